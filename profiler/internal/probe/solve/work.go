package solve

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Work is the instructions that counters stand for: profile.Instructions of
// what Solve makes of them, without solving. Solving is linear, so every
// counter has a fixed worth in instructions, and so has a frame that stays active.
func (v *Solver) Work(d []record.Delta) uint64 { return uint64(max(0, v.worth(d).worth)) }

// Wakes is how many calls that let waiting threads go on, if there are any,
// counters stand for.
func (v *Solver) Wakes(d []record.Delta) uint64 { return uint64(max(0, v.worth(d).wakes)) }

// worth adds up what counters are worth: each time that one comes, unless it counts in
// steps, which are whole ones of the sum only.
func (v *Solver) worth(d []record.Delta) weight {
	sum, whole := v.addWorth(d)
	if !whole {
		sum, _ = v.addWorth(record.Sum(d))
	}
	return sum
}

// addWorth reports whether nothing counts in steps, too.
func (v *Solver) addWorth(d []record.Delta) (sum weight, whole bool) {
	whole = true
	for _, x := range d {
		if int(x.Counter) >= len(v.weight) {
			continue
		}
		w := v.weightOf(x.Counter)
		n := int64(x.N)
		if w.step != 1 { // a division takes long
			n, whole = n/w.step, false
		}
		sum.worth, sum.wakes = sum.worth+n*w.worth, sum.wakes+n*w.wakes
	}
	return sum, whole
}

// weightOf is that of a counter, or of a frame that stays active.
func (v *Solver) weightOf(counter int32) *weight {
	if counter >= 0 {
		w := &v.weight[counter]
		if w.step == 0 {
			v.load(v.owner[counter])
		}
		return w
	}
	for len(v.activeWeight) < len(v.active) {
		v.activeWeight = append(v.activeWeight, v.weighActive(v.active[len(v.activeWeight)]))
	}
	return &v.activeWeight[-1-counter]
}

// weighActive computes the worth of a frame that stays where it is.
func (v *Solver) weighActive(k frame) weight {
	x := v.load(k.fn)
	val := make([]int64, len(x.edges))
	conserve(&x.steps, val, map[int32]int64{k.node: 1})
	w := weight{step: 1}
	for i, n := range val {
		if e := x.edges[i].event; e >= 0 {
			w.worth += n * int64(v.events[e].insns)
			w.wakes += n * int64(v.events[e].wakes)
		}
	}
	return w
}

// weight is what a counter is worth for every step of it: instructions, and
// calls that let others go on.
type weight struct{ worth, wakes, step int64 }

// weigh computes the worths of a function's chords.
func (v *Solver) weigh(x *function, w *placement.Network) {
	worth := v.worths(x, w, func(e *event) int32 { return e.insns })
	wakes := make([]int64, len(w.Edges))
	if slices.ContainsFunc(x.edges, func(e networkEdge) bool { return e.event >= 0 && v.events[e.event].wakes != 0 }) { // few do
		wakes = v.worths(x, w, func(e *event) int32 { return e.wakes })
	}
	for i := range x.edges {
		if e := &x.edges[i]; e.counter >= 0 {
			v.weight[e.counter] = weight{worth[i], wakes[i], 1}
			if k := w.Edges[i].Induction; k != nil {
				v.weight[e.counter].step = k.Step
			}
		}
	}
}

// worths are those of a function's edges: a block has its own, and what a
// derived edge is worth goes to the edges that it is derived from, last one first.
func (v *Solver) worths(x *function, w *placement.Network, of func(*event) int32) []int64 {
	worth := make([]int64, len(w.Edges))
	for i := range x.edges {
		if e := x.edges[i].event; e >= 0 {
			worth[i] = int64(of(&v.events[e]))
		}
	}
	for k := len(x.steps.list) - 1; k >= 0; k-- {
		own := worth[x.steps.list[k].edge]
		plus, minus := x.steps.of(k)
		for _, e := range plus {
			worth[e] += own
		}
		for _, e := range minus {
			worth[e] -= own
		}
	}
	return worth
}
