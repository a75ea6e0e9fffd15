package section

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/skewlens/skewlens/profile"
)

// collector keeps instances by section, within a bound on memory. What it
// keeps are counters; they are solved when the program has ended. Solving is
// linear, so that sums of counters can be solved as well.
type collector struct {
	c        Config
	sections map[key]*open
	order    []*open
	bytes    int
	at       map[profile.Addr][]spot // of calls
	ways     map[*uint64][]spot      // of chains, by their first call
	goOn     map[string]bool         // functions: see watch
	placed   map[way]*open
	between  map[[2]*uint64][]spot // places of those who came by two ways, the first one's first
	spare    [][]part              // room of instances that were folded
	ranks    []ranked              // room for their parts' order,
	turn     []int                 // and for that of arrivals
	synced   int                   // waits that are kept one by one
	latest   *open                 // to which an instance was added last
}

// way is a chain that was seen before.
type way struct {
	kind    profile.SectionKind
	first   *spot
	n, from int
}

type key struct {
	kind profile.SectionKind
	line string // or lines, of a chain
}

// open is a section that still grows.
type open struct {
	s         profile.Section
	chain     []spot // by which its meetings were come to
	from      int    // where in it they may stand
	looked    int    // see watch
	counted   bool   // its totals are those of all instances
	instances []instance
	bytes     int
	folded    []*fold
	totals    map[profile.ThreadID]*total // by place
	time      covered
	dealt     []dealt // what the oldest instances did in loops
	pieces    int     // of these
	calls     rankCalls
}

type instance struct {
	parts  []part // by thread
	spanNS int64
	end    uint64
	waiter profile.ThreadID // profile.Instance.Waiter
}

func newCollector(c Config) *collector {
	return &collector{c: c, sections: map[key]*open{}, at: map[profile.Addr][]spot{},
		ways: map[*uint64][]spot{}, goOn: map[string]bool{}, placed: map[way]*open{}, between: map[[2]*uint64][]spot{}}
}

// add files an instance under its section. It reports false for a meeting of
// fewer than two, and of those that no call of the program's led to.
func (c *collector) add(kind profile.SectionKind, arrivals []arrival, made making) bool {
	if len(arrivals) < c.fewest() {
		return false
	}
	place, from := c.place(arrivals, made)
	if c.latest = nil; place[0].site == 0 && kind != profile.Threads {
		return false
	}
	o := c.open(kind, place, from)
	c.watch(o, arrivals)
	c.deal(o, arrivals)
	last, first, over := uint64(0), ^uint64(0), uint64(0)
	for i := range arrivals {
		last, first, over = max(last, arrivals[i].tsc), min(first, arrivals[i].beginTSC), max(over, arrivals[i].worked)
	}
	in := instance{parts: c.room(len(arrivals)), spanNS: int64(float64(max(last, over)-first) * c.c.NSPerTick), end: last}
	size := 0
	for i, k := range c.byThread(arrivals) {
		a, p := &arrivals[k], &in.parts[i]
		c.part(p, a, last, kind == profile.Threads || a.ended) // who has ended waits for nobody
		size += p.size()
	}
	in.restore(&c.c)
	distinct(in.parts)
	o.time.add(first, last)
	o.instances = append(o.instances, in)
	c.latest = o
	o.bytes += size
	c.bytes += size
	if c.bytes > c.c.MaxBytes {
		c.shrink()
	}
	return true
}

// byThread is the order of arrivals by their threads.
func (c *collector) byThread(arrivals []arrival) []int {
	c.turn = c.turn[:0]
	for i := range arrivals {
		c.turn = append(c.turn, i)
	}
	slices.SortStableFunc(c.turn, func(a, b int) int { return cmp.Compare(arrivals[a].t.id, arrivals[b].t.id) })
	return c.turn
}

// room is for the parts of an instance, which may have been those of one that was folded.
func (c *collector) room(n int) []part {
	if last := len(c.spare) - 1; last >= 0 {
		room := c.spare[last]
		if c.spare = c.spare[:last]; cap(room) >= n && cap(room) <= 2*n {
			return room[:n]
		}
	}
	return make([]part, n)
}

// fewest is how many threads make a meeting.
func (c *collector) fewest() int {
	if c.c.Times {
		return 1
	}
	return 2
}

// drop forgets a section.
func (c *collector) drop(o *open) {
	c.bytes -= o.bytes
	is := func(x *open) bool { return x == o }
	c.order = slices.DeleteFunc(c.order, is)
	maps.DeleteFunc(c.placed, func(_ way, x *open) bool { return is(x) })
	maps.DeleteFunc(c.sections, func(_ key, x *open) bool { return is(x) })
}

// open is the section of meetings that stand at a place.
func (c *collector) open(kind profile.SectionKind, place []spot, from int) *open {
	w := way{kind, &place[0], len(place), from}
	if o := c.placed[w]; o != nil {
		return o
	}
	var lines strings.Builder
	for _, s := range place {
		lines.WriteString(s.line)
		lines.WriteByte('\n')
	}
	k := key{kind, strings.Repeat("^", from) + lines.String()}
	o := c.sections[k]
	if o == nil {
		o = &open{s: profile.Section{Kind: kind, Site: place[0].site}, chain: place, from: from}
		c.sections[k] = o
		c.order = append(c.order, o)
	}
	c.placed[w] = o
	return o
}

func (c *collector) sinceStart(tsc uint64) int64 {
	return int64(float64(tsc-c.c.BeginTSC) * c.c.NSPerTick)
}

// mainSite is the call that most threads came from; of equals, the first.
func mainSite(as []arrival) profile.Addr {
	if !slices.ContainsFunc(as, func(a arrival) bool { return a.site != as[0].site }) {
		return as[0].site
	}
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

// finish returns the sections, in the order in which they first ended.
func (c *collector) finish() []profile.Section {
	var out []profile.Section
	c.spare, c.c.Solve = nil, once(c.c.Solve)
	c.outwards()
	for _, o := range c.order {
		o.leaveOut()
		if o.totals != nil {
			o.count()
			o.s.TimeNS = int64(float64(o.time.length()) * c.c.NSPerTick)
		}
		o.number()
		o.s.Units = c.units(o)
		if o.totals != nil {
			for _, t := range o.totals {
				o.s.Totals = append(o.s.Totals, t.solve(t.part.Thread, c.c))
			}
			sort.Slice(o.s.Totals, func(i, j int) bool { return o.s.Totals[i].Thread < o.s.Totals[j].Thread })
		}
		o.s.Instances = make([]profile.Instance, 0, len(o.folded)+len(o.instances))
		for _, f := range o.folded {
			in := profile.Instance{Folded: f.n, SpanNS: f.spanNS}
			for r := range f.parts {
				in.Parts = append(in.Parts, f.parts[r].solve(profile.ThreadID(r), c.c))
			}
			o.s.Instances = append(o.s.Instances, in)
		}
		// Forks inside forks are filed late.
		sort.SliceStable(o.instances, func(i, k int) bool { return o.instances[i].end < o.instances[k].end })
		for i := range o.instances {
			in := profile.Instance{Folded: 1, SpanNS: o.instances[i].spanNS, Waiter: o.instances[i].waiter, Parts: make([]profile.Part, 0, len(o.instances[i].parts))}
			for k := range o.instances[i].parts {
				in.Parts = append(in.Parts, o.instances[i].parts[k].solve(&c.c))
			}
			o.instances[i].parts = nil
			o.s.Instances = append(o.s.Instances, in)
		}
		o.s.Instances = append(o.s.Instances, o.calls.instances(c.c)...)
		out = append(out, o.s)
	}
	return out
}
