package probe

import "github.com/skewlens/skewlens/profile"

// Work is the instructions that counters stand for: profile.Instructions of
// what Solve makes of them, without solving. Solving is linear, so every
// counter has a fixed worth in instructions.
func (v *Solver) Work(d []Delta) uint64 {
	n := int64(0)
	for _, x := range d {
		switch {
		case x.Counter < 0: // frames that stayed open: rare, and not worth a formula
			p := profile.Profile{Graph: v.Graph, Events: v.Events}
			return p.Instructions(v.Solve(d))
		case int(x.Counter) < len(v.weight):
			w := &v.weight[x.Counter]
			n += w.worth * (int64(x.N) / w.step)
		}
	}
	return uint64(max(0, n))
}

// weight is a counter's worth in instructions for every step of it.
type weight struct{ worth, step int64 }

// weigh computes the chords' worths: a block is worth its instructions, and
// what a derived edge is worth goes to the edges that it is derived from, last
// one first.
func (v *Solver) weigh() {
	v.weight = make([]weight, v.s.Layout.Chords)
	for i := range v.funcs {
		x := &v.funcs[i]
		w := x.q.w
		worth := make([]int64, len(w.edges))
		for _, b := range x.q.f.Blocks {
			if e := w.self[b.ID]; x.eventOf[e] != profile.NoEvent && !b.Spin {
				worth[e] = int64(len(b.Insns))
			}
		}
		for k := len(w.steps) - 1; k >= 0; k-- {
			s := &w.steps[k]
			for _, e := range s.plus {
				worth[e] += worth[s.edge]
			}
			for _, e := range s.minus {
				worth[e] -= worth[s.edge]
			}
		}
		for e := range w.edges {
			if c := w.edges[e].counter; c >= 0 {
				v.weight[c] = weight{worth[e], 1}
				if iv := w.edges[e].induction; iv != nil {
					v.weight[c].step = iv.step
				}
			}
		}
	}
}
