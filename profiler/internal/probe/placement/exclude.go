package placement

import "github.com/skewlens/skewlens/profiler/internal/cfg"

// Exclusion is something that no counter can stand on.
type Exclusion struct {
	What ExclusionKind
	ID   int32 // of the block or the edge, in the graph
}

// ExclusionKind is what an Exclusion is about.
type ExclusionKind uint8

// What cannot be counted: a block itself; an edge of the graph; what arrives
// at a block from original code, by its entry, as a landing pad, as a switch's
// target or from a call.
const (
	ExcludeBlock ExclusionKind = iota
	ExcludeEdge
	ExcludeArrivals
)

// exclude makes uncountable what an exclusion says.
func (w *Network) exclude(x Exclusion) {
	switch x.What {
	case ExcludeBlock:
		w.Edges[w.ofBlock[x.ID]].uncountable = true
	case ExcludeEdge:
		w.Edges[w.ofEdge[x.ID]].uncountable = true
	case ExcludeArrivals:
		b := w.Graph.Blocks[x.ID]
		for _, e := range b.Pred {
			if e.Kind == cfg.Pad || e.Kind == cfg.Entry || returnsInto(e) {
				w.Edges[w.ofEdge[e.ID]].uncountable = true
			}
		}
		if i := w.FromHub(b); i >= 0 {
			w.Edges[i].uncountable = true
		}
	}
}

// returnsInto reports whether an edge is the return of a call that ends a block.
func returnsInto(e *cfg.Edge) bool {
	return e.Kind == cfg.Fall && e.From != nil && e.From.Last().Kind.IsCall()
}
