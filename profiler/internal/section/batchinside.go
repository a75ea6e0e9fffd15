package section

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A goroutine that is a part of something may make others in the middle of that, and wait
// for them as a group, or by receiving as often as it has made some:
//
//	part   ─ work ─ go go go ─ Wait, or receives, receives, receives ─ work ─ Done
//	made              └─ work, send, end
//
// It has waited for the longest of these, as if it had done that: unless it was at work
// itself meanwhile, half as much. They have ended by when the part is filed, mostly, but
// their batch may be filed later.

// spent is what a goroutine waited for that way.
type spent struct {
	from, to uint64 // when it made the first one, and went on
	own      int64  // ns that it was busy itself meanwhile
	delta    []record.Delta
	work     uint64 // what the longest did, in instructions,
	busyNS   int64  // and CPU time
}

// fewSpent is how much of one part is told apart.
const fewSpent = 16

// spends keeps what a goroutine waited for, if that is known.
func (x *thread) spends(s spent, known bool) {
	if !known {
		return
	}
	list := slices.DeleteFunc(x.spent, func(s spent) bool { return s.to <= x.beginTSC })
	if len(list) == fewSpent {
		a, b := list[0], list[1]
		list[1] = spent{a.from, b.to, a.own + b.own, record.Add(a.delta, b.delta), a.work + b.work, a.busyNS + b.busyNS}
		list = list[1:]
	}
	x.spent = append(list, s)
}

// longest puts into s what the longest of some parts did.
func (g *goRule) longest(parts []arrival, s spent) spent {
	g.t.waitedFor(parts, &s.delta, &s.busyNS)
	s.work = g.t.c.Work(s.delta)
	return s
}

// turned: a coroutine has ended. Who made it has waited whenever it ran, as for a function.
func (g *goRule) turned(x *thread, a arrival) {
	g.within(&a)
	x.parent.spends(g.longest([]arrival{a}, spent{from: x.born, to: a.tsc}), x.parent.parent != nil)
	x.created = moment{x.born, x.parent.clock}
	x.parent.joins([]*thread{x}, x.created, a.tsc)
}

// waitedIn is what the maker of a batch waited for there, if that is known.
func (g *goRule) waitedIn(y *batch) (s spent, ok bool) {
	if !y.joins() || y.dead < y.made {
		return s, false
	}
	var parts []arrival
	for _, x := range y.ended {
		if !x.taken() && x.end != nil {
			a := *x.end
			g.within(&a)
			parts = append(parts, a)
		}
	}
	if len(parts) == 0 {
		return s, false
	}
	return g.longest(parts, spent{from: y.begin, to: y.last, own: y.busy}), true
}

// within adds to a part what its goroutine waited for that way in the middle of it.
func (g *goRule) within(a *arrival) {
	own := g.t.c.Work(a.delta)
	add := func(s spent) {
		meanwhile := float64(own)
		if a.timed && s.own < a.busyNS {
			meanwhile *= float64(s.own) / float64(a.busyNS)
		}
		if s.from >= a.beginTSC && s.to <= a.tsc && float64(s.work) > 2*meanwhile {
			a.inner, a.innerBusy = record.Add(a.inner, s.delta), a.innerBusy+s.busyNS
		}
	}
	for _, s := range a.t.spent {
		add(s)
	}
	for _, y := range g.batches[a.t] {
		if s, ok := g.waitedIn(y); ok {
			add(s)
		}
	}
}

// open: more is to be known of what the part's goroutine waited for.
func (g *goRule) open(a arrival) bool {
	return slices.ContainsFunc(g.batches[a.t], func(y *batch) bool {
		return y.joins() && y.begin >= a.beginTSC && y.last <= a.tsc &&
			(y.dead < y.made || slices.ContainsFunc(y.ended, func(x *thread) bool { return x.end != nil && g.open(*x.end) }))
	})
}

// release files instances that were held back, all or those of which more is known.
func (g *goRule) release(all bool) {
	g.held = slices.DeleteFunc(g.held, func(m met) bool {
		done := all || !slices.ContainsFunc(m.parts, g.open)
		if done {
			g.complete(m)
		}
		return done
	})
}
