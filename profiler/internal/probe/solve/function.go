package solve

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
)

// function is one function as the solver sees it: what is left of its graph and
// network, which are thrown away.
type function struct {
	fn         int32
	edges      []networkEdge // as in the network
	counted    []int32       // of each counter of the function the edge; −1: none
	told       []int32       // those with an event
	steps      steps
	firstBlock int32           // edge of block 0
	entry      int32           // edge of the entry
	start      profile.EventID // of the START edge
	calls      []callOf
	sites      []siteOf
	imports    []importOf
	pads       []padOf
	throws     []throwOf
	total      []int64 // by edge of the network: in all threads' lives; nil: none yet
	blocks     []block
	accesses   [][]uint32 // by block, see profile.Block; nil: none
	entryBlock int32
	graph      []edge
	ops        []opOf // accesses that are simulated
}

// networkEdge is an edge of the network.
type networkEdge struct {
	counter int32 // −1: derived
	event   profile.EventID
	unknown bool
}

// block is a block of the profile's graph, in half of the memory: of each function that
// runs all are had.
type block struct {
	start                         profile.Addr
	end, last                     uint32 // behind start
	instructions                  int32
	count                         profile.EventID // one of the solver's
	spin, virtual, deals, resumes bool
	branch                        profile.Inputs
}

// edge is an edge of the profile's graph. Its blocks are of the function,
// −1: none; or it leads to the entry of the function callee.
type edge struct {
	from, to, callee int32
	event            profile.EventID
	site             uint64
	kind             profile.EdgeKind
	late             bool   // an indirect call's, found while the program ran
	passes           uint64 // see profile.Edge
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

// find notes which edges of the network have one of the function's counters, or an event.
func (x *function) find(first, after int32) {
	told := 0
	for i := range x.edges {
		if x.edges[i].event >= 0 {
			told++
		}
	}
	list := make([]int32, int(after-first)+told)
	x.counted, x.told = list[:after-first:after-first], list[after-first:after-first]
	for i := range x.counted {
		x.counted[i] = -1
	}
	for i := range x.edges {
		e := &x.edges[i]
		if e.counter >= 0 {
			x.counted[e.counter-first] = int32(i)
		}
		if e.event >= 0 {
			x.told = append(x.told, int32(i))
		}
	}
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
	x.find(v.Chords(int(fi)))
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
		x.edges[i] = networkEdge{counter: e.Counter, event: profile.NoEvent, unknown: e.Unknown}
	}
	b := builder{v: v, x: x, s: m.Spec, q: q, g: g, w: w, base: m.Base}
	x.blocks, x.graph = make([]block, 0, len(g.Blocks)+int(w.Hubs)), make([]edge, 0, len(g.Edges)+g.Calls+1)
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
