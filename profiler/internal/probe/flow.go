package probe

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
)

// Counting by flow conservation. Every function is a circulation: what enters
// a block leaves it, and all that leaves the function comes in again at node
// 0. So only the edges outside a spanning tree need a counter (Knuth, 1973;
// Ball and Larus, "Optimally profiling and tracing programs", 1994), and with
// a tree of maximal weight these are the ones that run least.
//
// A block is an edge as well, from its in-node to its out-node: a counter in
// the middle of a block is often cheaper than one on an edge. The targets of
// switches are counted where they arrive, so the edges between several
// switches and their shared targets are not known one by one: they meet in a
// hub, jump → hub → target.
//
// What no counter can stand on (cfg.Edge.Uncountable, and more where the
// landings leave no room) goes into the tree first. An uncountable edge that
// would close a cycle has only uncountable ones in that cycle: these counts,
// and only these, are unknown.
type flowEdge struct {
	from, to    int32 // nodes
	edge        *cfg.Edge
	block       *cfg.Block // the block that this edge is (self), or a hub's other end
	hub         int32      // 1 …; 0: none
	weight      float64
	uncountable bool
	tree        bool
	unknown     bool
	counter     int32 // −1: derived
	induction   *induction
}

// flow is the flow graph of one function, and how to solve it.
type flow struct {
	g     *cfg.Graph
	edges []flowEdge
	nodes int32
	self  []int32 // block → its edge
	byCfg []int32 // cfg edge → its edge; −1: a table edge
	hubIn []int32 // block → its edge into a hub, −1; nil without hubs
	hubTo []int32 // table target → its hub edge, −1; nil without hubs
	hubs  int32
	steps []step
	loops map[*cfg.Loop]float64 // cost of code on a loop's edges; −1: impossible
	ops   map[*cfg.Edge][]edgeOp
}

// flowSpace is memory that is used again from one function's flow to the next.
type flowSpace struct {
	edges []flowEdge
	ints  []int32
	order []uint64
	set   []int32
}

func in(b *cfg.Block) int32  { return 1 + 2*int32(b.ID) }
func out(b *cfg.Block) int32 { return 2 + 2*int32(b.ID) }

// newFlow makes a function's flow; with a space it lasts until the next one.
func newFlow(g *cfg.Graph, marks []mark, s *flowSpace) *flow {
	if s == nil {
		s = &flowSpace{}
	}
	n := len(g.Edges) + len(g.Blocks)
	if cap(s.ints) < n {
		s.ints = make([]int32, n+n/2)
	}
	w := &flow{g: g, nodes: int32(2*len(g.Blocks) + 1), edges: s.edges[:0], byCfg: s.ints[:len(g.Edges)], self: s.ints[len(g.Edges):n]}
	table := false
	for i, e := range g.Edges {
		if e.Kind == cfg.Table {
			w.byCfg[i] = -1
			table = true
			continue
		}
		x := flowEdge{edge: e, uncountable: e.Uncountable}
		if e.From != nil {
			x.from = out(e.From)
		}
		if e.To != nil {
			x.to = in(e.To)
		}
		w.byCfg[i] = w.add(x)
	}
	for i, b := range g.Blocks {
		w.self[i] = w.add(flowEdge{from: in(b), to: out(b), block: b})
	}
	if table {
		w.addHubs()
	}
	s.edges = w.edges
	for _, m := range marks {
		w.apply(m)
	}
	return w
}

func (w *flow) add(e flowEdge) int32 {
	e.counter = -1
	w.edges = append(w.edges, e)
	return int32(len(w.edges) - 1)
}

// addHubs joins all switches that share a target into one hub.
func (w *flow) addHubs() {
	blocks := w.g.Blocks
	group := make([]int32, len(blocks))
	number := make([]int32, len(blocks))
	w.hubIn, w.hubTo = make([]int32, len(blocks)), make([]int32, len(blocks))
	for i := range group {
		group[i], w.hubIn[i], w.hubTo[i] = int32(i), -1, -1
	}
	find := func(b *cfg.Block) int32 { return root(group, int32(b.ID)) }
	for _, b := range blocks {
		var first *cfg.Block
		for _, e := range b.Succ {
			if e.Kind != cfg.Table {
				continue
			}
			if first == nil {
				first = e.To
			} else {
				group[find(e.To)] = find(first)
			}
		}
	}
	for _, b := range blocks {
		for _, e := range b.Succ {
			if e.Kind != cfg.Table {
				continue
			}
			r := find(e.To)
			if number[r] == 0 {
				w.hubs++
				number[r] = w.hubs
				w.nodes++
			}
			h := number[r]
			node := int32(2*len(blocks)) + h
			if w.hubIn[b.ID] < 0 {
				w.hubIn[b.ID] = w.add(flowEdge{from: out(b), to: node, block: b, hub: h, uncountable: true})
			}
			if w.hubTo[e.To.ID] < 0 {
				w.hubTo[e.To.ID] = w.add(flowEdge{from: node, to: in(e.To), block: e.To, hub: h})
			}
		}
	}
}

// root finds the representative of x in a forest of sets.
func root(set []int32, x int32) int32 {
	for set[x] != x {
		set[x] = set[set[x]]
		x = set[x]
	}
	return x
}

// apply makes uncountable what a mark says.
func (w *flow) apply(m mark) {
	switch m.what {
	case markSelf:
		w.edges[w.self[m.id]].uncountable = true
	case markEdge:
		w.edges[w.byCfg[m.id]].uncountable = true
	case markArrivals:
		// What arrives at an address by a landing that cannot be told from
		// others: the block's entry, pads, table targets and returns into it.
		b := w.g.Blocks[m.id]
		for _, e := range b.Pred {
			if e.Kind == cfg.Pad || e.Kind == cfg.Entry || returnsInto(e) {
				w.edges[w.byCfg[e.ID]].uncountable = true
			}
		}
		if w.hubTo != nil && w.hubTo[m.id] >= 0 {
			w.edges[w.hubTo[m.id]].uncountable = true
		}
	}
}

// returnsInto reports whether an edge is the return of a call that ends a block.
func returnsInto(e *cfg.Edge) bool {
	return e.Kind == cfg.Fall && e.From != nil && e.From.Last().Kind.IsCall()
}
