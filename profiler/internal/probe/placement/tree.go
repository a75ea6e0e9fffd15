package placement

import (
	"math"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/probe"
)

// place chooses the spanning tree and numbers the counters of all other edges
// from first on.
func (w *Network) place(first int32, opt probe.Options, s *Space) {
	w.weigh(opt)
	order, set := s.order[:0], s.set[:0]
	for i := range w.Edges { // heaviest first, then in their order: as one number, which sorts fast
		order = append(order, uint64(^math.Float32bits(float32(w.Edges[i].weight)))<<32|uint64(i))
	}
	for i := range w.Nodes {
		set = append(set, i)
	}
	s.order, s.set = order, set
	slices.Sort(order)
	w.Next = first
	for _, x := range order {
		e := &w.Edges[uint32(x)]
		if a, b := root(set, e.From), root(set, e.To); a != b && (e.uncountable || !opt.NoTree) {
			set[a] = b
			e.Tree, e.Induction = true, nil
			continue
		}
		if e.uncountable {
			continue
		}
		e.Counter = w.Next
		w.Next++
		if e.Induction != nil {
			w.attach(e)
		}
	}
}
