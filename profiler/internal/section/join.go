package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// group is the workers that one thread created from a moment at which it had
// none: when it has joined them all, that was one instance.
type group struct {
	creator *thread
	created int
	workers []*thread
	dead    []arrival
	joined  int
	first   *arrival // the creator at its first join
}

func (x *thread) createsWorker() {
	if x.group == nil {
		x.group = &group{creator: x}
	}
	x.group.created++
	x.group.first = nil // it goes on creating: its own part starts at the last create
}

func (t *Tracker) born(x *thread) {
	x.alive = true
	if p := x.parent; p != nil {
		x.start = p.nextStart
		x.begin = x.start
		if p.group == nil { // created by a library: no record
			p.group = &group{creator: p, created: 1}
		}
		x.of = p.group
		x.of.workers = append(x.of.workers, x)
	}
}

func (t *Tracker) join(x *thread, r record.Record) {
	x.joining = true
	g := x.group
	if g == nil {
		return
	}
	if g.first == nil {
		a := t.arrive(x, r)
		g.first = &a
		x.cut(a, r.TSC)
	}
	g.joined++
	t.settle(g)
}

func (t *Tracker) died(x *thread, a arrival) {
	x.alive = false
	for _, e := range t.epochs { // it will not come to where it was waited for
		e.arrivals = slices.DeleteFunc(e.arrivals, func(a arrival) bool { return a.t == x })
	}
	if x.of != nil {
		x.of.dead = append(x.of.dead, a)
		t.settle(x.of)
	}
}

// settle completes a group once all are dead and joined.
func (t *Tracker) settle(g *group) {
	if g.joined < len(g.workers) || len(g.dead) < len(g.workers) || g.creator.group != g || len(g.workers) < g.created {
		return
	}
	g.creator.group = nil
	parts := slices.Clone(g.dead)
	for i := range parts {
		parts[i].site = g.first.site
	}
	if t.takesPart(g) {
		parts = append(parts, *g.first)
	}
	if t.out.add(profile.Join, parts) {
		t.Instances++
	}
}

// takesPart reports whether the creator worked beside its workers between its
// last create and its first join: it met one at a barrier, ran the function
// that they began in, or did at least a twentieth of a worker's work.
func (t *Tracker) takesPart(g *group) bool {
	if g.first == nil {
		return false
	}
	mean := uint64(0)
	for i := range g.dead {
		if g.creator.met[g.dead[i].t.id] {
			return true
		}
		mean += t.c.Work(g.dead[i].delta)
	}
	mean /= uint64(max(1, len(g.dead)))
	if own := t.c.Solve(g.first.delta); t.c.Entered != nil {
		for _, w := range g.workers {
			if t.c.Entered(own, w.start) {
				return true
			}
		}
	}
	return mean > 0 && t.c.Work(g.first.delta) >= mean/20
}

// lives makes one section of the threads' whole lives, where no place was
// found at which they meet.
func (t *Tracker) lives(totals map[profile.ThreadID]arrival) {
	var parts []arrival
	for _, a := range totals {
		parts = append(parts, a)
	}
	slices.SortFunc(parts, func(a, b arrival) int { return int(a.t.id - b.t.id) })
	t.out.add(profile.Threads, parts)
}
