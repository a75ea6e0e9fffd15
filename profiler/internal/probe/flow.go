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
	f     *cfg.Func
	edges []flowEdge
	nodes int32
	self  []int32 // block → its edge
	byCfg []int32 // cfg edge → its edge; −1: a table edge
	hubIn map[*cfg.Block]int32
	hubTo map[*cfg.Block]int32 // table target → its hub edge
	hubs  int32
	steps []step
	loops map[*cfg.Loop]float64 // cost of code on a loop's edges; −1: impossible
	ops   map[*cfg.Edge][]edgeOp
}

func in(b *cfg.Block) int32  { return 1 + 2*int32(b.ID) }
func out(b *cfg.Block) int32 { return 2 + 2*int32(b.ID) }

func newFlow(f *cfg.Func) *flow {
	w := &flow{f: f, nodes: int32(2*len(f.Blocks) + 1), hubIn: map[*cfg.Block]int32{}, hubTo: map[*cfg.Block]int32{},
		edges: make([]flowEdge, 0, len(f.Edges)+len(f.Blocks)), self: make([]int32, 0, len(f.Blocks))}
	add := func(e flowEdge) int32 {
		e.counter = -1
		w.edges = append(w.edges, e)
		return int32(len(w.edges) - 1)
	}
	w.byCfg = make([]int32, len(f.Edges))
	for i, e := range f.Edges {
		w.byCfg[i] = -1
		if e.Kind == cfg.Table {
			continue
		}
		x := flowEdge{edge: e, uncountable: e.Uncountable}
		if e.From != nil {
			x.from = out(e.From)
		}
		if e.To != nil {
			x.to = in(e.To)
		}
		w.byCfg[i] = add(x)
	}
	for _, b := range f.Blocks {
		w.self = append(w.self, add(flowEdge{from: in(b), to: out(b), block: b}))
	}
	w.addHubs(add)
	return w
}

// addHubs joins all switches that share a target into one hub.
func (w *flow) addHubs(add func(flowEdge) int32) {
	group := map[*cfg.Block]*cfg.Block{}
	var find func(*cfg.Block) *cfg.Block
	find = func(b *cfg.Block) *cfg.Block {
		if g := group[b]; g != nil && g != b {
			group[b] = find(g)
			return group[b]
		}
		return b
	}
	for _, b := range w.f.Blocks {
		var first *cfg.Block
		for _, e := range b.Succ {
			if e.Kind != cfg.Table {
				continue
			}
			if first == nil {
				first = e.To
			} else if r := find(e.To); r != find(first) {
				group[r] = find(first)
			}
		}
	}
	number := map[*cfg.Block]int32{}
	for _, b := range w.f.Blocks {
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
			node := int32(2*len(w.f.Blocks)) + h
			if _, ok := w.hubIn[b]; !ok {
				w.hubIn[b] = add(flowEdge{from: out(b), to: node, block: b, hub: h, uncountable: true})
			}
			if _, ok := w.hubTo[e.To]; !ok {
				w.hubTo[e.To] = add(flowEdge{from: node, to: in(e.To), block: e.To, hub: h})
			}
		}
	}
}

// forbidArrivals marks what arrives at an address by a landing that cannot be told
// from others: the block's entry, pads, table targets and returns into it.
func (w *flow) forbidArrivals(b *cfg.Block) {
	for _, e := range b.Pred {
		if e.Kind == cfg.Pad || e.Kind == cfg.Entry || returnsInto(e) {
			w.edges[w.byCfg[e.ID]].uncountable = true
		}
	}
	if h, ok := w.hubTo[b]; ok {
		w.edges[h].uncountable = true
	}
}

// returnsInto reports whether an edge is the return of a call that ends a block.
func returnsInto(e *cfg.Edge) bool {
	return e.Kind == cfg.Fall && e.From != nil && e.From.Last().Kind.IsCall()
}
