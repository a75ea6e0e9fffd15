package placement

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
)

// Edge is an edge of a function's network.
type Edge struct {
	From, To  int32 // nodes
	Hub       int32 // the hub at one of its ends, 1 …; 0: none
	Counter   int32 // −1: its count is derived
	Tree      bool  // of the spanning tree
	Unknown   bool  // its count cannot be derived: see MarkUnknown
	Induction *Induction

	cfg         *cfg.Edge
	block       *cfg.Block // the block that this edge is, or a hub's other end
	weight      float64
	ran         float64 // of a hub's: how often it was passed, where that is known
	uncountable bool
}

// Way is the edge of the graph that it is; nil: it is a block, or a hub's.
func (e *Edge) Way() *cfg.Edge { return e.cfg }

// Network is the flow network of one function.
type Network struct {
	Graph *cfg.Graph
	Edges []Edge
	Nodes int32 // node 0 is outside of the function
	Hubs  int32 // how many there are
	Next  int32 // the first number behind its counters

	ofBlock []int32 // block → its edge
	ofEdge  []int32 // edge of the graph → its edge; −1: a switch's
	intoHub []int32 // block → its edge into a hub, −1; nil without hubs
	fromHub []int32 // a switch's target → its edge from a hub, −1; nil without hubs
	looks   bool    // where Looks says, threads look
	loops   map[*cfg.Loop]float64
	updates map[*cfg.Edge][]Update
}

// Space is memory that is used again from one function's network to the next.
type Space struct {
	edges []Edge
	ints  []int32
	order []uint64
	set   []int32
}

// In is the node at which control comes into a block.
func In(b *cfg.Block) int32 { return 1 + 2*int32(b.ID) }

// Out is the node from which control leaves a block.
func Out(b *cfg.Block) int32 { return 2 + 2*int32(b.ID) }

// Block is the number of a block's edge in Edges.
func (w *Network) Block(b *cfg.Block) int32 { return w.ofBlock[b.ID] }

// Edge is the number of the edge that an edge of the graph has in Edges; −1: a
// switch's, which has none of its own.
func (w *Network) Edge(e *cfg.Edge) int32 { return w.ofEdge[e.ID] }

// IntoHub is the number of the edge by which the switch that ends a block
// enters its hub; −1: it is none.
func (w *Network) IntoHub(b *cfg.Block) int32 {
	if w.intoHub == nil {
		return -1
	}
	return w.intoHub[b.ID]
}

// FromHub is the number of the edge by which a block is reached from switches;
// −1: it is not.
func (w *Network) FromHub(b *cfg.Block) int32 {
	if w.fromHub == nil {
		return -1
	}
	return w.fromHub[b.ID]
}

// Place makes a function's network and numbers its counters from first on.
// Nothing excluded gets one. What ran before is of Ran, or nil. With a space the
// network lasts until the next one.
func Place(g *cfg.Graph, excluded []Exclusion, ran []byte, first int32, opt probe.Options, s *Space) *Network {
	if s == nil {
		s = &Space{}
	}
	w := newNetwork(g, s)
	w.looks = opt.Looks || opt.Units
	for _, x := range excluded {
		w.exclude(x)
	}
	if opt.HoldSome {
		ran = w.anything(first)
	}
	w.take(ran)
	w.place(first, opt, s)
	return w
}

func newNetwork(g *cfg.Graph, s *Space) *Network {
	n := len(g.Edges) + len(g.Blocks)
	if cap(s.ints) < n {
		s.ints = make([]int32, n+n/2)
	}
	w := &Network{Graph: g, Nodes: int32(2*len(g.Blocks) + 1), Edges: s.edges[:0], ofEdge: s.ints[:len(g.Edges)], ofBlock: s.ints[len(g.Edges):n]}
	table := false
	for i, e := range g.Edges {
		if e.Kind == cfg.Table {
			w.ofEdge[i] = -1
			table = true
			continue
		}
		x := Edge{cfg: e, uncountable: e.Uncountable}
		if e.From != nil {
			x.From = Out(e.From)
		}
		if e.To != nil {
			x.To = In(e.To)
		}
		w.ofEdge[i] = w.add(x)
	}
	for i, b := range g.Blocks {
		w.ofBlock[i] = w.add(Edge{From: In(b), To: Out(b), block: b})
	}
	if table {
		w.addHubs()
	}
	s.edges = w.Edges
	return w
}

func (w *Network) add(e Edge) int32 {
	e.Counter = -1
	w.Edges = append(w.Edges, e)
	return int32(len(w.Edges) - 1)
}
