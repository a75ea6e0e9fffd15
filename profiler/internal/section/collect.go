package section

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
)

// collector keeps instances by section, within a bound on memory.
type collector struct {
	c        Config
	sections map[key]*open
	order    []*open
	bytes    int
}

type key struct {
	kind profile.SectionKind
	line string
}

// open is a section that still grows.
type open struct {
	s      profile.Section
	bytes  int
	folded []*fold
	totals map[profile.ThreadID]*total
}

// fold sums the oldest instances with the same number of threads, part by
// part in the order of their instructions (profile.Instance.Folded).
type fold struct {
	n      int
	spanNS int64
	parts  []total
}

// total is a dense sum of parts.
type total struct {
	n              []uint64
	busyNS, waitNS int64
	timed          bool
	begin, site    profile.Addr
}

func newCollector(c Config) *collector {
	return &collector{c: c, sections: map[key]*open{}}
}

const bytesPerCount = 12

// add solves the parts of an instance and files it under its section. It
// reports false for a meeting of fewer than two.
func (c *collector) add(kind profile.SectionKind, arrivals []arrival) bool {
	if len(arrivals) < 2 {
		return false
	}
	site := mainSite(arrivals)
	k := key{kind, c.c.Line(site)}
	o := c.sections[k]
	if o == nil {
		o = &open{s: profile.Section{Kind: kind, Site: site}}
		c.sections[k] = o
		c.order = append(c.order, o)
	}
	last, first := uint64(0), ^uint64(0)
	for i := range arrivals {
		last, first = max(last, arrivals[i].tsc), min(first, arrivals[i].beginTSC)
	}
	in := profile.Instance{Folded: 1, SpanNS: int64(float64(last-first) * c.c.NSPerTick)}
	size := 0
	for i := range arrivals {
		a := &arrivals[i]
		p := profile.Part{Thread: a.t.id, Begin: a.begin, Site: a.site, Counts: c.c.Solve(a.delta)}
		if a.timed {
			p.Timed, p.BusyNS, p.WaitNS = true, a.busyNS, int64(float64(last-a.tsc)*c.c.NSPerTick)
		}
		size += bytesPerCount * len(p.Counts.N)
		in.Parts = append(in.Parts, p)
	}
	sort.Slice(in.Parts, func(i, j int) bool { return in.Parts[i].Thread < in.Parts[j].Thread })
	o.s.Instances = append(o.s.Instances, in)
	o.bytes += size
	c.bytes += size
	if c.bytes > c.c.MaxBytes {
		c.shrink()
	}
	return true
}

// mainSite is the call that most threads came from; of equals, the first.
func mainSite(as []arrival) profile.Addr {
	n := map[profile.Addr]int{}
	for i := range as {
		n[as[i].site]++
	}
	best := as[0].site
	for a, k := range n {
		if k > n[best] || k == n[best] && a < best {
			best = a
		}
	}
	return best
}

// shrink folds the older half of the largest sections until a quarter of the
// memory is free.
func (c *collector) shrink() {
	for c.bytes > c.c.MaxBytes*3/4 {
		var o *open
		for _, x := range c.order {
			if len(x.s.Instances) > 1 && (o == nil || x.bytes > o.bytes) {
				o = x
			}
		}
		if o == nil {
			return // every section has one instance left
		}
		n := len(o.s.Instances) / 2
		for i := range o.s.Instances[:n] {
			freed := o.fold(&o.s.Instances[i], c.c.Instructions)
			o.bytes -= freed
			c.bytes -= freed
		}
		o.s.Instances = slices.Clone(o.s.Instances[n:])
	}
}

func (o *open) fold(in *profile.Instance, instructions func(profile.Counts) uint64) (freed int) {
	if o.totals == nil {
		o.totals = map[profile.ThreadID]*total{}
	}
	var f *fold
	for _, x := range o.folded {
		if len(x.parts) == len(in.Parts) {
			f = x
		}
	}
	if f == nil {
		f = &fold{parts: make([]total, len(in.Parts))}
		o.folded = append(o.folded, f)
	}
	f.n++
	f.spanNS += in.SpanNS
	rank := make([]int, len(in.Parts))
	work := make([]uint64, len(in.Parts))
	for i := range in.Parts {
		rank[i], work[i] = i, instructions(in.Parts[i].Counts)
	}
	sort.SliceStable(rank, func(i, j int) bool { return work[rank[i]] < work[rank[j]] })
	for r, i := range rank {
		p := &in.Parts[i]
		f.parts[r].add(p)
		t := o.totals[p.Thread]
		if t == nil {
			t = &total{}
			o.totals[p.Thread] = t
		}
		t.add(p)
		freed += bytesPerCount * len(p.Counts.N)
	}
	return freed
}

func (t *total) add(p *profile.Part) {
	if n := len(p.Counts.Event); n > 0 {
		if top := int(p.Counts.Event[n-1]) + 1; top > len(t.n) {
			t.n = append(t.n, make([]uint64, top-len(t.n))...)
		}
	}
	for i, e := range p.Counts.Event {
		t.n[e] += p.Counts.N[i]
	}
	t.busyNS += p.BusyNS
	t.waitNS += p.WaitNS
	t.timed = t.timed || p.Timed
	if t.begin == 0 {
		t.begin = p.Begin
	}
	if t.site == 0 {
		t.site = p.Site
	}
}

func (t *total) part(id profile.ThreadID) profile.Part {
	p := profile.Part{Thread: id, Begin: t.begin, Site: t.site, BusyNS: t.busyNS, WaitNS: t.waitNS, Timed: t.timed}
	for e, n := range t.n {
		if n > 0 {
			p.Counts.Event = append(p.Counts.Event, profile.EventID(e))
			p.Counts.N = append(p.Counts.N, n)
		}
	}
	return p
}

// finish returns the sections, in the order in which they first ended.
func (c *collector) finish() []profile.Section {
	var out []profile.Section
	for _, o := range c.order {
		if o.totals != nil {
			for i := range o.s.Instances {
				for j := range o.s.Instances[i].Parts {
					p := &o.s.Instances[i].Parts[j]
					t := o.totals[p.Thread]
					if t == nil {
						t = &total{}
						o.totals[p.Thread] = t
					}
					t.add(p)
				}
			}
			for id, t := range o.totals {
				o.s.Totals = append(o.s.Totals, t.part(id))
			}
			sort.Slice(o.s.Totals, func(i, j int) bool { return o.s.Totals[i].Thread < o.s.Totals[j].Thread })
			var old []profile.Instance
			for _, f := range o.folded {
				in := profile.Instance{Folded: f.n, SpanNS: f.spanNS}
				for r := range f.parts {
					in.Parts = append(in.Parts, f.parts[r].part(profile.ThreadID(r)))
				}
				old = append(old, in)
			}
			o.s.Instances = append(old, o.s.Instances...)
		}
		out = append(out, o.s)
	}
	return out
}
