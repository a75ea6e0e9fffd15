package section

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Where a section stands. A call of pthread_barrier_wait may stand in a header,
// in a class of the user's own or in a function that many call; a section is
// named by the line that a user takes for the meeting:
//
//	chain of one arrival   calls, inlined ones too, from the inside outwards; none of the system's
//	place of a meeting     the chain of most, as far as it is that of all who came the same way;
//	                       made by hand: from the innermost call on that all have in common
//	place of a section     outwards from there, past wrappers: functions in which nothing else ends
//	                       a section, that are left after a meeting, and come to by several ways

// spot is a place in the source: a frame of a call.
type spot struct {
	site     profile.Addr
	outside  int    // which frame of the site
	line     string // the place
	function string // and what it is in
}

// of is the function, or the call itself where that is not known.
func (s *spot) of() string { return cmp.Or(s.function, s.line) }

const maxSpots = 24

// spots are the frames of a chain of calls that a user recognises, from the
// inside outwards, up to where it recurses. Never none.
func (c *collector) spots(a *arrival) []spot {
	if len(a.chain) == 0 {
		return c.unwind([]uint64{uint64(a.site)})
	}
	list, ok := c.ways[&a.chain[0]]
	if !ok {
		list = c.unwind(a.chain)
		c.ways[&a.chain[0]] = list
	}
	return list
}

// own is the innermost call in the user's own code that led to what was recorded.
func (c *collector) own(r *record.Record) profile.Addr {
	return c.spots(&arrival{site: profile.Addr(r.Site), chain: r.Chain})[0].site
}

// foreign: no call of the program's led anybody to where they are, as where a language's own
// library has threads that wait for work, or stops all for its garbage. Nobody has asked for
// such a meeting.
func (c *collector) foreign(arrivals []arrival) bool {
	return c.c.Locate != nil && !slices.ContainsFunc(arrivals, func(a arrival) bool {
		own := func(x uint64) bool { return len(c.spotsAt(profile.Addr(x))) > 0 }
		return own(uint64(a.site)) || slices.ContainsFunc(a.chain, own)
	})
}

func (c *collector) unwind(chain []uint64) (list []spot) {
	for _, x := range chain {
		a := profile.Addr(x)
		for _, s := range c.spotsAt(a) {
			if len(list) == maxSpots || slices.ContainsFunc(list, func(x spot) bool { return x.function != "" && x.function == s.function }) {
				return list
			}
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		site := profile.Addr(chain[0])
		list = append(list, spot{site: site, line: c.c.Line(site)})
	}
	return list
}

// spotsAt are those of one call.
func (c *collector) spotsAt(a profile.Addr) []spot {
	if list, ok := c.at[a]; ok {
		return list
	}
	list := []spot{}
	if c.c.Locate == nil {
		list = append(list, spot{site: a, line: c.c.Line(a)})
	} else {
		for i, f := range c.c.Locate(a).Frames() {
			written := f.File != "" || !c.c.Goroutines // methods that Go's compiler makes of others have no line
			if !written || f.System() || c.fetched(f.File) {
				continue
			}
			s := spot{site: a, outside: i, line: c.c.Line(a), function: f.Function}
			if f.File != "" && f.Line > 0 {
				s.line, s.function = fmt.Sprintf("%s:%d", f.File, f.Line), f.File+" "+f.Function
			}
			list = append(list, s)
		}
	}
	c.at[a] = list
	return list
}

// fetched: a file is of what others wrote, and the program uses.
func (c *collector) fetched(file string) bool {
	return c.c.Main != nil && profile.Fetched(file, c.c.Main)
}

// place is the chain by which those came that have met, and which of its frames
// may be their place: 0, but for a meeting made by hand.
func (c *collector) place(arrivals []arrival, made making) (most []spot, from int) {
	if made != byCoordinator && alike(arrivals) {
		return c.spots(&arrivals[0]), 0 // all by the same calls, as mostly
	}
	ways, two := twoWays(arrivals)
	if made == byLibrary && two {
		if known := c.between[ways]; known != nil {
			return known, 0
		}
		defer func() { c.between[ways] = most }()
	}
	of := arrivals
	if made == byHand { // where they wait, not where the last one wakes them
		of = arrivals[:len(arrivals)-1]
	}
	site := mainSite(of)
	all := make([][]spot, 0, len(arrivals))
	for i := range arrivals {
		s := c.spots(&arrivals[i])
		if arrivals[i].site == site && most == nil {
			most = s
		}
		all = append(all, s)
	}
	switch made {
	case byHand:
		from = shared(most, all)
	case byCoordinator:
		from = min(1, len(most)-1)
	}
	for _, s := range all {
		if at := indexOf(s, most[from]); at >= 0 {
			most = most[:from+agree(most[from:], s[at:])]
		}
	}
	return most, from
}

// alike: all came by the same calls, as far as that is known.
func alike(arrivals []arrival) bool {
	for i := range arrivals {
		if c := arrivals[i].chain; len(c) == 0 || &c[0] != &arrivals[0].chain[0] {
			return false
		}
	}
	return true
}

// twoWays are the first calls of the chains by which all came to the same call, that of
// who came first before the other, if there are just two: mostly the first thread calls
// what the others began in.
func twoWays(arrivals []arrival) (ways [2]*uint64, two bool) {
	for i := range arrivals {
		a := &arrivals[i]
		if len(a.chain) == 0 || a.site != arrivals[0].site {
			return ways, false
		}
		switch way := &a.chain[0]; {
		case i == 0:
			ways[0] = way
		case way == ways[0] || way == ways[1]:
		case ways[1] != nil:
			return ways, false
		default:
			ways[1] = way
		}
	}
	return ways, ways[1] != nil
}

// shared is the frame of the chain of most at which all have met that came to a
// meeting made by hand: 0 where they wait and wake on one line; else where they
// call the function in which they do. Who wakes the others may come another way.
func shared(most []spot, all [][]spot) int {
	from := slices.IndexFunc(most, func(x spot) bool {
		return !slices.ContainsFunc(all, func(s []spot) bool { return indexOf(s, x) < 0 })
	})
	if from < 0 {
		return min(1, len(most)-1)
	}
	return from
}

// mostLooks is how many of a section's meetings are looked at.
const mostLooks = 8

// watch finds out which of the functions that led a thread to a meeting it has not
// entered since the one before. Such a function is no wrapper: it goes on after a
// meeting. Macros that make barriers by hand leave many in a function.
func (c *collector) watch(o *open, arrivals []arrival) {
	if o.s.Kind != profile.Barrier || c.c.Passes == nil || o.looked == mostLooks {
		return
	}
	a := &arrivals[o.looked%len(arrivals)]
	o.looked++
	counts, chain := c.c.Solve(a.delta), c.spots(a)
	for at := range chain {
		if compiled(chain, at) && !c.c.Passes(counts, chain[at].site) {
			c.goOn[chain[at].of()] = true
		}
	}
}

// compiled: a frame is that of a function as it was compiled, into which the ones
// before it may have been inlined.
func compiled(chain []spot, at int) bool {
	return at+1 == len(chain) || chain[at+1].site != chain[at].site
}

// goesOn: the function of a frame goes on after a meeting; false where that is
// not known.
func (c *collector) goesOn(chain []spot, at int) bool {
	return c.goOn[chain[at].of()] && at+1 < len(chain) && compiled(chain, at)
}

func indexOf(list []spot, x spot) int {
	return slices.IndexFunc(list, func(s spot) bool { return s.line == x.line })
}

// agree is how many frames two chains have in common.
func agree(a, b []spot) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].line == b[n].line {
		n++
	}
	return n
}

// outwards moves sections out of wrappers, and makes one of those that stand on
// one line then.
func (c *collector) outwards() {
	at := make([]int, len(c.order))
	var all []int
	for i, o := range c.order {
		if at[i] = o.from; o.s.Kind != profile.OpenMP { // a region stands in the function that it is in
			all = append(all, i)
		}
		for k := range o.from {
			if c.goesOn(o.chain, k) {
				at[i] = k
				break
			}
		}
	}
	c.unwrap(at, all)
	var order []*open
	known := map[key]*open{}
	for i, o := range c.order {
		here := o.chain[at[i]]
		o.s.Site, o.s.Outside, o.s.Callers = here.site, here.outside, callers(o.chain[at[i]:])
		k := key{o.s.Kind, here.line}
		if known[k] == nil {
			known[k] = o
			order = append(order, o)
		} else {
			known[k].take(o)
		}
	}
	c.order = order
}

// unwrap goes outwards from where sections stand, as long as they part.
func (c *collector) unwrap(at, which []int) {
	lines := map[string][]int{}
	var sorted []string
	for _, i := range which {
		l := c.order[i].chain[at[i]].line
		if lines[l] == nil {
			sorted = append(sorted, l)
		}
		lines[l] = append(lines[l], i)
	}
	for _, l := range sorted {
		list := lines[l]
		if len(list) < 2 || c.others(at, list) {
			continue
		}
		before := slices.Clone(at)
		moved := list[:0:0]
		for _, i := range list {
			if o := c.order[i]; at[i]+1 < len(o.chain) && !c.goesOn(o.chain, at[i]) {
				at[i]++
				moved = append(moved, i)
			}
		}
		c.unwrap(at, moved)
		if len(moved) < 2 || c.together(at, moved) { // a way that is known less far is no other way
			copy(at, before)
		}
	}
}

// others: another section stands in the function where these do.
func (c *collector) others(at, these []int) bool {
	here := c.order[these[0]].chain[at[these[0]]]
	if here.function == "" {
		return true
	}
	for i, o := range c.order {
		if x := o.chain[at[i]]; x.function == here.function && x.line != here.line {
			return true
		}
	}
	return false
}

// together: all stand on one line.
func (c *collector) together(at, list []int) bool {
	first := c.order[list[0]].chain[at[list[0]]].line
	return !slices.ContainsFunc(list, func(i int) bool { return c.order[i].chain[at[i]].line != first })
}

// callers are the calls outside of a chain's first.
func callers(chain []spot) (list []profile.Addr) {
	for _, s := range chain[1:] {
		if s.site != chain[0].site && (len(list) == 0 || s.site != list[len(list)-1]) {
			list = append(list, s.site)
		}
	}
	return list
}

// take takes over the instances of another section.
func (o *open) take(x *open) {
	if o.totals != nil || x.totals != nil {
		o.count()
		x.count()
		for id, t := range x.totals {
			if o.totals[id] == nil {
				o.totals[id] = t
			} else {
				o.totals[id].join(t)
			}
		}
	}
	o.instances = append(o.instances, x.instances...)
	slices.SortStableFunc(o.instances, func(a, b instance) int { return int(a.endNS() - b.endNS()) })
	o.folded = append(o.folded, x.folded...)
	o.takeCalls(x)
	o.time.join(&x.time)
	o.s.Callers = o.s.Callers[:agreeing(o.s.Callers, x.s.Callers)]
	o.s.Warnings = append(o.s.Warnings, x.s.Warnings...)
}

func agreeing(a, b []profile.Addr) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (in *instance) endNS() (last int64) {
	for i := range in.parts {
		last = max(last, in.parts[i].ArriveNS)
	}
	return last
}
