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
		g.file(b.parts)
		return nil
	}
	return b.parts
}

// forks: a goroutine is about to make another one, for the first time since it did something
// else. From here on it may do its own part.
func (g *goRule) forks(x *thread, r record.Record) {
	if r.Whole && g.beneath[x] == nil {
		a := x.arrive(r)
		g.forked[x] = &a
	}
}

// own is what a goroutine did itself since it made another one, until it waited, if that was
// as much as others did, about, and called the function again that waits.
func (g *goRule) own(x *thread, at waiting, parts []arrival) (a arrival, ok bool) {
	from, until := g.forked[x], at.came
	if from == nil || from.beginTSC != until.beginTSC {
		return a, false
	}
	a = until
	a.delta = record.Sub(until.delta, from.delta)
	a.begin, a.beginTSC, a.busyNS = from.site, from.tsc, until.busyNS-from.busyNS
	a.waits = slices.DeleteFunc(slices.Clone(until.waits), func(w wait) bool { return w.begin < from.tsc })
	c, sum := &g.t.c, uint64(0)
	for i := range parts {
		sum += c.Work(parts[i].delta)
	}
	const some = 20 // of a mean part
	return a, some*uint64(len(parts))*c.Work(a.delta) >= sum && c.Passes != nil && c.Passes(c.Solve(a.delta), at.site)
}

// gather adds to those that were waited for all that were inside of a recursion; nil where
// they are inside of one themselves.
func (g *goRule) gather(x *thread, at waiting, parts []arrival) []arrival {
	line, waitedFor := g.t.c.Line(at.site), len(parts)
	for _, a := range parts {
		parts = append(parts, g.under(a.t, line)...)
	}
	parts = append(parts, g.under(x, line)...)
	inside := g.recurses(x, at)
	if !inside && (waitedFor == 1 || len(parts) > waitedFor) {
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

// left files what nobody has waited for around it.
func (g *goRule) left() {
	for _, x := range slices.SortedFunc(maps.Keys(g.beneath), func(a, b *thread) int { return cmp.Compare(a.id, b.id) }) {
		g.file(g.beneath[x].parts)
	}
}
