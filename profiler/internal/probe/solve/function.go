package solve

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
)

// function is one function as the solver sees it: what is left of its graph and
// network, which are thrown away.
type function struct {
	fn         int32
	edges      []networkEdge // as in the network
	counted    []int32       // those with a counter, by it,
	told       []int32       // and those with an event, by that
	steps      steps
	firstBlock int32           // edge of block 0
	entry      int32           // edge of the entry
	start      profile.EventID // of the START edge
	calls      []callOf
	sites      []siteOf
	imports    []importOf
	pads       []padOf
	throws     []throwOf
	total      []int64         // by edge of the network: in all threads' lives; nil: none yet
	blocks     []profile.Block // Count is one of the solver's events
	entryBlock int32
	graph      []edge
	ops        []opOf // accesses that are simulated
}

// networkEdge is an edge of the network.
type networkEdge struct {
	step    int64 // what the counter counts by
	counter int32 // −1: derived
	event   profile.EventID
	unknown bool
}

// edge is an edge of the profile's graph. Its blocks are of the function,
// −1: none; or it leads to the entry of the function callee.
type edge struct {
	from, to, callee int32
	event            profile.EventID
	site             uint64
	thrown           *source // of a landing pad's: where the exception comes from; nil: from START
	kind             profile.EdgeKind
	late             bool // an indirect call's, found while the program ran
}

// callOf is a known call in a function: as often as its edge of the network.
type callOf struct {
	edge   int32
	callee int32
}

// siteOf is a call or tail jump through a pointer.
type siteOf struct {
	addr  uint64
	block int32
	tail  bool
}

// sorted are the edges of the network that have a number of a kind, by it: as one number
// with it, which sorts fast, in memory that is used again.
func (x *function) sorted(order *[]uint64, number func(*networkEdge) int32) []int32 {
	*order = (*order)[:0]
	for i := range x.edges {
		if n := number(&x.edges[i]); n >= 0 {
			*order = append(*order, uint64(n)<<32|uint64(i))
		}
	}
	slices.Sort(*order)
	list := make([]int32, len(*order))
	for i, k := range *order {
		list[i] = int32(uint32(k))
	}
	return list
}

// block is a block's edge in the network.
func (x *function) block(id int) int32 { return x.firstBlock + int32(id) }

// load returns what solving a function needs.
func (v *Solver) load(fi int32) *function {
	if x := v.funcs[fi]; x != nil {
		return x
	}
	m := v.moduleOf(fi)
	x := v.restore(fi, m)
	if x == nil {
		events, exits := len(v.events), len(v.exits)
		x = v.make(fi, m)
		v.note(x, m, events, exits)
	}
	v.funcs[fi] = x
	x.counted = x.sorted(&v.order, func(e *networkEdge) int32 { return e.counter })
	x.told = x.sorted(&v.order, func(e *networkEdge) int32 { return int32(e.event) })
	return x
}

// make is load of a function that was not kept.
func (v *Solver) make(fi int32, m *Module) *function {
	q := v.plans[fi]
	g := m.Spec.Program.Graph(q.Func, &v.space)
	w := m.Spec.Counters(q, g, &v.network)
	w.MarkUnknown()
	x := &function{fn: fi, edges: make([]networkEdge, len(w.Edges)), steps: eliminate(w), firstBlock: w.Block(g.Blocks[0]), entry: w.Edge(g.Edges[0]), entryBlock: int32(g.Entry.ID)}
	for i := range w.Edges {
		e := &w.Edges[i]
		x.edges[i] = networkEdge{step: 1, counter: e.Counter, event: profile.NoEvent, unknown: e.Unknown}
		if e.Induction != nil {
			x.edges[i].step = e.Induction.Step
		}
	}
	b := builder{v: v, x: x, s: m.Spec, q: q, g: g, w: w, base: m.Base}
	x.blocks, x.graph = make([]profile.Block, 0, len(g.Blocks)+int(w.Hubs)), make([]edge, 0, len(g.Edges)+g.Calls+1)
	b.addBlocks()
	for _, e := range g.Edges {
		b.addEdge(e)
	}
	b.addCalls()
	x.start = v.newEdge(x, edge{from: -1, to: x.entryBlock, callee: -1, kind: profile.Start}, !x.edges[x.entry].unknown && !q.CallersUnknown)
	m.Spec.Sites(q, g, func(b *cfg.Block, c *cfg.Call) {
		if c != nil {
			x.sites = append(x.sites, siteOf{c.Insn.Addr + m.Base, int32(b.ID), false})
		} else {
			x.sites = append(x.sites, siteOf{b.Last().Addr + m.Base, int32(b.ID), true})
		}
	})
	b.addThrows()
	b.addOps()
	v.weigh(x, w)
	return x
}
