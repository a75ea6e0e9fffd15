package section

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// fold sums the oldest instances with the same number of threads, part by
// part in the order of their instructions (profile.Instance.Folded).
type fold struct {
	n      int
	spanNS int64
	parts  []total
	first  []profile.ThreadID // the places of the first one's, which stands for several as soon as there is another one
}

// total is a sum of parts.
type total struct {
	part       profile.Part
	own, inner dense
	untimed    bool // one of the parts is not timed, so the sum is not
}

// dense is a sum over the counters, in pages: the numbers of some lie far from
// those of others.
type dense map[int32]*[pageOf]uint64

const pageOf = 64

// shrink folds the older half of the largest sections until a quarter of the
// memory is free.
func (c *collector) shrink() {
	for c.bytes > c.c.MaxBytes*3/4 {
		var o *open
		for _, x := range c.order {
			if len(x.instances) > 1 && (o == nil || x.bytes > o.bytes) {
				o = x
			}
		}
		if o == nil {
			return // every section has one instance left
		}
		n := len(o.instances) / 2
		for i := range o.instances[:n] {
			freed := c.fold(o, &o.instances[i])
			o.bytes -= freed
			c.bytes -= freed
			c.leave(o.instances[i].parts)
		}
		o.instances = slices.Delete(o.instances, 0, n)
	}
}

// leave leaves the room of parts that were folded to others.
func (c *collector) leave(parts []part) {
	for i := range parts {
		parts[i].besides = nil
	}
	c.spare = append(c.spare, parts)
}

func (c *collector) fold(o *open, in *instance) (freed int) {
	var f *fold
	for _, x := range o.folded {
		if len(x.parts) == len(in.parts) {
			f = x
		}
	}
	if f == nil {
		f = &fold{parts: make([]total, len(in.parts))}
		o.folded = append(o.folded, f)
	}
	f.n++
	f.spanNS += in.spanNS
	c.ranks = c.ranks[:0]
	for i := range in.parts {
		c.ranks = append(c.ranks, ranked{c.c.Work(in.parts[i].delta) + c.c.Work(in.parts[i].inner()), i})
	}
	slices.SortStableFunc(c.ranks, func(a, b ranked) int { return cmp.Compare(a.did, b.did) })
	for r, place := range f.first {
		o.total(place, f.parts[r].part.Thread).join(&f.parts[r])
	}
	f.first = nil
	for r, x := range c.ranks {
		p := &in.parts[x.part]
		if f.n == 1 {
			f.parts[r].part.Thread, f.first = p.Thread, append(f.first, p.place)
		}
		f.parts[r].add(p)
		freed += p.size()
	}
	if f.n > 1 {
		o.addTotals(in)
	}
	return freed
}

// ranked is a part of an instance, with the instructions that it did.
type ranked struct {
	did  uint64
	part int
}

// total is the sum of the parts of a place, of which a thread's is one.
func (o *open) total(place, of profile.ThreadID) *total {
	if o.totals == nil {
		o.totals = map[profile.ThreadID]*total{}
	}
	t := o.totals[place]
	if t == nil {
		t = &total{}
		t.part.Thread = of
		o.totals[place] = t
	}
	return t
}

func (o *open) addTotals(in *instance) {
	for i := range in.parts {
		p := &in.parts[i]
		t := o.total(p.place, p.Thread)
		t.part.Several = t.part.Several || t.part.Thread != p.Thread
		t.part.Thread = min(t.part.Thread, p.Thread)
		t.add(p)
	}
}

// count adds to the totals the instances that were not folded, once all have come.
func (o *open) count() {
	if o.counted {
		return
	}
	o.counted = true
	if o.totals == nil {
		o.totals = map[profile.ThreadID]*total{}
	}
	for i := range o.instances {
		o.addTotals(&o.instances[i])
	}
}

// join adds the sum of other parts of the place.
func (t *total) join(x *total) {
	t.part.Several = t.part.Several || x.part.Several || t.part.Thread != x.part.Thread
	t.part.Thread = min(t.part.Thread, x.part.Thread)
	x.part.Timed = !x.untimed
	t.own.add(x.own.sparse())
	t.inner.add(x.inner.sparse())
	t.sum(&x.part)
}

func (x *dense) add(deltas []record.Delta) {
	if *x == nil {
		*x = dense{}
	}
	var page *[pageOf]uint64
	last := int32(0)
	for _, d := range deltas {
		if k := d.Counter &^ (pageOf - 1); page == nil || k != last {
			if page, last = (*x)[k], k; page == nil {
				page = new([pageOf]uint64)
				(*x)[k] = page
			}
		}
		page[d.Counter&(pageOf-1)] += d.N
	}
}

// sparse is the sum again.
func (x dense) sparse() (d []record.Delta) {
	for _, k := range slices.Sorted(maps.Keys(x)) {
		for i, n := range x[k] {
			if n > 0 {
				d = append(d, record.Delta{Counter: k + int32(i), N: n})
			}
		}
	}
	return d
}

func (t *total) add(p *part) {
	t.own.add(p.delta)
	if p.besides != nil {
		t.inner.add(p.besides.inner)
		q := p.part()
		t.sum(&q)
		return
	}
	t.part.BusyNS += p.BusyNS
	t.part.WaitNS += p.WaitNS
	t.begins(p.Timed, p.Begin, p.Site)
}

// sum adds all of a part but its counters.
func (t *total) sum(p *profile.Part) {
	q := &t.part
	q.BusyNS += p.BusyNS
	q.InnerBusyNS += p.InnerBusyNS
	q.WaitNS += p.WaitNS
	if len(p.Waits) > 0 {
		q.Waits = profile.SumWaits(append(q.Waits, p.Waits...))
		q.Wakes = logWakes(q.Wakes, p.Wakes)
	}
	t.begins(p.Timed, p.Begin, p.Site)
}

// logWakes appends to a list that is summed before it grows: there may be one for each
// thread that had a lock, in each instance.
func logWakes(log, next []profile.Wake) []profile.Wake {
	if n := len(log) + len(next); n > cap(log) {
		log = profile.SumWakes(log)
		log = slices.Grow(log[:len(log):len(log)], n)
	}
	return append(log, next...)
}

// begins notes where a part began and ended, and whether it is timed.
func (t *total) begins(timed bool, begin, site profile.Addr) {
	t.untimed = t.untimed || !timed
	t.part.Begin, t.part.Site = cmp.Or(t.part.Begin, begin), cmp.Or(t.part.Site, site)
}

// solve returns the sum as a part of its own.
func (t *total) solve(id profile.ThreadID, c Config) profile.Part {
	p := t.part
	p.Wakes = profile.SumWakes(p.Wakes)
	p.Thread, p.Counts = id, c.Solve(t.own.sparse())
	if inner := t.inner.sparse(); len(inner) > 0 {
		p.Inner = c.Solve(inner)
	}
	if p.Timed = !t.untimed; t.untimed {
		p.BusyNS, p.WaitNS, p.InnerBusyNS = 0, 0, 0
	}
	return p
}

// leaveOut leaves out what was folded where no other instance had as many parts: that
// stands for none but itself, and whose parts they were is not known any more.
func (o *open) leaveOut() {
	all := len(o.folded)
	o.folded = slices.DeleteFunc(o.folded, func(f *fold) bool { return f.n == 1 })
	if n := all - len(o.folded); n > 0 {
		o.s.Warnings = append(o.s.Warnings, profile.Warning{Code: "left-out",
			Message: fmt.Sprintf("%d instances of different widths are left out: there was no memory to keep them", n)})
	}
}
