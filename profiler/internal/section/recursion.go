package section

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A function in Go that recurses, and has goroutines do what it recurses to, is one piece
// of parallel work, as where threads fork and join (fork.go):
//
//	sort ─┬─ go sort ─┬─ go sort ─ Done      each waits for those that it made; all are parts
//	      │           └─ sort ─ Wait         of the outermost Wait, and so is who does some of
//	      └─ sort ─ …    ─ Wait              it itself
//
// A Wait is inside of it where the function that waits is on the stack once more, as such or
// as one in which a function literal stands, or is the one that made the goroutine.

// beneath are goroutines that were waited for at a line inside of a recursion: parts of
// what is waited for around that.
type beneath struct {
	line  string
	parts []arrival
}

// waiter is what is known of the calls that led to a Wait.
type waiter struct {
	function string // that waits
	twice    bool   // and was called by itself
}

// recurses reports whether a goroutine waits inside of a recursion.
func (g *goRule) recurses(x *thread, at waiting) bool {
	if len(at.chain) == 0 {
		return false
	}
	out := g.t.out
	in := func(a profile.Addr, f string) bool {
		return slices.ContainsFunc(out.spotsAt(a), func(s spot) bool { return s.function == f })
	}
	w, known := g.waiters[&at.chain[0]]
	if !known {
		spots := out.spots(&arrival{site: at.site, chain: at.chain})
		w.function = spots[0].function
		times := 0
		for _, a := range at.chain {
			if in(profile.Addr(a), w.function) {
				times++
			}
		}
		w.twice = times > 1 || slices.ContainsFunc(spots, func(s spot) bool { return strings.HasPrefix(s.function, w.function+".") })
		g.waiters[&at.chain[0]] = w
	}
	return w.function != "" && (w.twice || x.goAt != 0 && in(x.goAt, w.function))
}

// under takes what was waited for beneath a goroutine at a line. What was at another one is
// an instance of its own.
func (g *goRule) under(x *thread, line string) []arrival {
	b := g.beneath[x]
	if b == nil {
		return nil
	}
	delete(g.beneath, x)
	if b.line != line {
		g.file(b.parts, -1)
		return nil
	}
	return b.parts
}

// forked is where a goroutine began to make others, for the first time since it did
// something else, and its CPU clock when it made the last one: from there on it may do its
// own part.
type forked struct {
	from  arrival
	clock int64
}

func (g *goRule) forks(x *thread, r record.Record) {
	f := g.forked[x]
	if r.Whole && g.beneath[x] == nil {
		if f == nil {
			f = &forked{}
			g.forked[x] = f
		}
		f.from = x.arrive(r)
	}
	if f != nil {
		f.clock = x.clock
	}
}

// own is what a goroutine did itself since it began to make others, until it waited for some
// of them, if it has a part: of a recursion, or of about the size of theirs.
func (g *goRule) own(x *thread, at waiting, parts []arrival) (a arrival, ok bool) {
	f, until := g.forked[x], at.came
	if f == nil || f.from.beginTSC != until.beginTSC || slices.ContainsFunc(parts, func(p arrival) bool { return p.t == x }) {
		return a, false
	}
	a = until
	a.delta = record.Sub(until.delta, f.from.delta)
	a.begin, a.beginTSC, a.busyNS = f.from.site, f.from.tsc, until.busyNS-f.from.busyNS
	a.waits = slices.DeleteFunc(slices.Clone(until.waits), func(w wait) bool { return w.begin < f.from.tsc })
	c, sum := &g.t.c, uint64(0)
	for i := range parts {
		sum += g.worked(parts[i])
	}
	own, n := c.Work(a.delta), uint64(len(parts))
	const some, much = 20, 4
	if some*n*own < sum {
		return a, false
	}
	if a.timed && much*n*own >= sum && some*sum >= own && some*(f.clock-x.cpu-f.from.busyNS) <= a.busyNS && given(x, parts) {
		return a, true // it did much beside them, and hardly anything while it made them
	}
	again := n == 1 || slices.ContainsFunc(parts, func(p arrival) bool { return p.t.inside })
	return a, again && c.Passes != nil && c.Passes(c.Solve(a.delta), at.site)
}

// worked is how much was done for a part, by its goroutine or those that it waited for.
func (g *goRule) worked(a arrival) uint64 {
	g.within(&a)
	return g.t.c.Work(a.delta) + g.t.c.Work(a.inner)
}

// given: all of them were made by x, and had then what they work on, or take it from
// somewhere without being told.
func given(x *thread, parts []arrival) bool {
	return !slices.ContainsFunc(parts, func(p arrival) bool { return p.t.receives || p.t.maker != x.id })
}

// gather adds to those that were waited for all that were inside of a recursion; nil where
// they are inside of one themselves.
func (g *goRule) gather(x *thread, at waiting, parts []arrival) []arrival {
	line := g.t.c.Line(at.site)
	n := len(parts)
	for _, a := range parts {
		parts = append(parts, g.under(a.t, line)...)
	}
	if parts = append(parts, g.under(x, line)...); len(parts) > n {
		parts = together(parts)
	}
	inside := g.recurses(x, at)
	if !inside {
		if a, ok := g.own(x, at, parts); ok {
			parts = append(parts, a)
		}
	}
	for i := range parts {
		parts[i].site, parts[i].chain = at.site, at.chain
		parts[i].t.inside = parts[i].t.inside || inside
	}
	if inside {
		g.beneath[x] = &beneath{line, parts}
		return nil
	}
	delete(g.forked, x)
	return parts
}

// together makes one part of what a goroutine did until it was waited for inside of a
// recursion, and then around that.
func together(parts []arrival) []arrival {
	at, all := map[*thread]int{}, parts[:0]
	for _, a := range parts {
		i, twice := at[a.t]
		switch {
		case !twice:
			at[a.t], all = len(all), append(all, a)
		case a.tsc > all[i].tsc:
			all[i] = a.after(&all[i])
		default:
			all[i] = all[i].after(&a)
		}
	}
	return all
}

// left files what nobody has waited for around it.
func (g *goRule) left() {
	for _, x := range slices.SortedFunc(maps.Keys(g.beneath), func(a, b *thread) int { return cmp.Compare(a.id, b.id) }) {
		g.file(g.beneath[x].parts, -1)
	}
}
