package solve

import (
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Work is the instructions that counters stand for: profile.Instructions of
// what Solve makes of them, without solving. Solving is linear, so every
// counter has a fixed worth in instructions.
func (v *Solver) Work(d []record.Delta) uint64 {
	n := int64(0)
	for _, x := range record.Sum(d) {
		switch {
		case x.Counter < 0: // frames that stay active: rare, and not worth a formula
			c := v.Solve(d)
			n := uint64(0)
			for i, e := range c.Event {
				n += uint64(v.events[e].insns) * c.N[i]
			}
			return n
		case int(x.Counter) < len(v.weight):
			w := &v.weight[x.Counter]
			if w.step == 0 {
				v.load(v.chordOwner(x.Counter))
			}
			n += w.worth * (int64(x.N) / w.step)
		}
	}
	return uint64(max(0, n))
}

// weight is a counter's worth in instructions for every step of it.
type weight struct{ worth, step int64 }

// weigh computes the worths of a function's chords: a block is worth its
// instructions, and what a derived edge is worth goes to the edges that it is
// derived from, last one first.
func (v *Solver) weigh(x *function, w *placement.Network) {
	worth := make([]int64, len(w.Edges))
	for i := range x.edges {
		if e := x.edges[i].event; e >= 0 {
			worth[i] = int64(v.events[e].insns)
		}
	}
	for k := len(x.steps) - 1; k >= 0; k-- {
		s := &x.steps[k]
		for _, e := range s.plus {
			worth[e] += worth[s.edge]
		}
		for _, e := range s.minus {
			worth[e] -= worth[s.edge]
		}
	}
	for i := range x.edges {
		if e := &x.edges[i]; e.counter >= 0 {
			v.weight[e.counter] = weight{worth[i], e.step}
		}
	}
}
