package lime

import (
	"iter"
	"slices"
	"sync"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profile"
)

// graph is what the analysis knows of a program's control flow before it sees
// a single count (rule 2): who dominates whom, which edges go backwards, which
// blocks form a loop and which functions call each other in a cycle.
type graph struct {
	p       *profile.Profile
	ins     flowgraph.Lists // by block: indices into Graph.Edges
	outs    flowgraph.Lists
	ofEvent flowgraph.Lists // by event: the edges that it counts
	back    []bool          // by edge: goes round a loop, or deeper into a recursion

	thrown map[int32]profile.BlockID // edges of exceptions to landing pads: the block of the pad's function from which they come
	caught []int32                   // of them those from other functions, in order

	// Blocks without a count of their own that end in a call which comes back: the edge
	// by which it does. A call may stand so near to its function's entry that there is
	// no room for a counter.
	returns map[profile.BlockID]int32

	index func() *profile.BlockIndex // of addresses

	concerns []bool // by function: see concerned. What follows is not known of others

	flow  *flowgraph.Graph // the blocks, by the edges that stay in their function
	dom   *flowgraph.Tree  // from where functions can be entered
	post  *flowgraph.Tree  // of the reverse, from where they end
	loops *flowgraph.Loops
	round func() []int32 // by block: those that go round together have one number

	dealers []profile.BlockID // that deal in a loop (rule 19)

	site []int32 // by edge: of calls of the same source the first; nil: each is its own

	calls    *flowgraph.Graph // the functions, by who calls whom
	comp     []int32          // by function: its component of the call graph, callees first
	inComp   flowgraph.Lists  // by component: its functions
	entering []int32          // the edges that enter a component from outside it
	enters   flowgraph.Lists  // by component: indices into entering
}

func newGraph(p *profile.Profile) *graph {
	index := sync.OnceValue(p.Graph.IndexBlocks)
	return graphOf(p, index, concerned(p, index))
}

func graphOf(p *profile.Profile, index func() *profile.BlockIndex, concerns []bool) *graph {
	edges, n := p.Graph.Edges, len(p.Graph.Blocks)
	g := &graph{p: p, back: make([]bool, len(edges)), index: index, concerns: concerns}
	g.ins = flowgraph.NewLists(n, len(edges), func(i int) int { return int(edges[i].To) })
	g.outs = flowgraph.NewLists(n, len(edges), func(i int) int { return int(edges[i].From) })
	g.ofEvent = flowgraph.NewLists(len(p.Events), len(edges), func(i int) int { return int(edges[i].Count) })
	g.findReturns()
	g.findThrown()
	g.findFlow()
	g.round = sync.OnceValue(func() []int32 {
		of, _ := g.flow.Components()
		return of
	})
	g.findCalls()
	g.findDealers()
	return g
}

// beside are the blocks of a block's function.
func (g *graph) beside(b profile.BlockID) iter.Seq[profile.BlockID] {
	f := &g.p.Graph.Functions[g.p.Graph.Blocks[b].Function]
	return func(yield func(profile.BlockID) bool) {
		for x := f.First; x < f.First+profile.BlockID(f.N) && yield(x); x++ {
		}
	}
}

// innermost is the innermost loop around a block, nil where there is none.
func (g *graph) innermost(b profile.BlockID) (in func(profile.BlockID) bool) {
	l := g.loops.Inner[b]
	if l < 0 {
		return nil
	}
	return g.blocksOf(l)
}

// around is the innermost loop around a block. Where control comes into a loop at several
// places, as where a lock is taken once more before it, it is none with a head: then what goes
// round with the block; nil: it goes round in none.
func (g *graph) around(b profile.BlockID) (in func(profile.BlockID) bool) {
	if in := g.innermost(b); in != nil {
		return in
	}
	of := g.round()
	if !slices.ContainsFunc(g.flow.Succ(int32(b)), func(x int32) bool { return of[x] == of[b] }) {
		return nil
	}
	return func(x profile.BlockID) bool { return of[x] == of[b] }
}

// blocksOf is the set of a loop's blocks.
func (g *graph) blocksOf(l int32) func(profile.BlockID) bool {
	return func(x profile.BlockID) bool { return g.inLoop(x, l) }
}

// within reports whether an edge stays inside its function.
func (g *graph) within(e *profile.Edge) bool {
	return e.From >= 0 && e.To >= 0 && e.Kind <= profile.Table &&
		g.p.Graph.Blocks[e.From].Function == g.p.Graph.Blocks[e.To].Function
}

// findReturns finds the calls that only their returns tell of.
func (g *graph) findReturns() {
	g.returns = map[profile.BlockID]int32{}
	for b := range g.p.Graph.Blocks {
		if x := &g.p.Graph.Blocks[b]; x.Count >= 0 || x.Virtual {
			continue
		}
		back, calls := int32(-1), 0
		for _, i := range g.outs.Of(b) {
			switch e := &g.p.Graph.Edges[i]; {
			case e.Kind.IsCall():
				calls++
			case e.Kind == profile.Fall && g.within(e) && e.Count >= 0 && back < 0:
				back = i
			default:
				calls = 2
			}
		}
		if back >= 0 && calls == 1 {
			g.returns[profile.BlockID(b)] = back
		}
	}
}

// findThrown finds where exceptions come from in the functions that catch them:
// from the throw, or from the call that they came through.
func (g *graph) findThrown() {
	g.thrown = map[int32]profile.BlockID{}
	for i := range g.p.Graph.Edges {
		e := &g.p.Graph.Edges[i]
		if e.Kind != profile.Pad || e.From < 0 {
			continue
		}
		fn := g.p.Graph.Blocks[e.To].Function
		if g.p.Graph.Blocks[e.From].Function == fn {
			g.thrown[int32(i)] = e.From
			continue
		}
		f := &g.p.Graph.Functions[fn]
		for b := f.First; b < f.First+profile.BlockID(f.N); b++ {
			if x := &g.p.Graph.Blocks[b]; !x.Virtual && x.Start <= e.Site && e.Site < x.End {
				g.thrown[int32(i)] = b
			}
		}
		if _, ok := g.thrown[int32(i)]; ok {
			g.caught = append(g.caught, int32(i))
		}
	}
}

// findFlow works out dominators, postdominators and loops of all functions that
// sections have to do with at once: no edge leads from one to another, so they are trees
// side by side.
func (g *graph) findFlow() {
	edges := make([]flowgraph.Edge, 0, len(g.p.Graph.Edges))
	for b := range g.p.Graph.Blocks {
		if !g.concern(profile.BlockID(b)) {
			continue
		}
		for _, i := range g.ins.Of(b) {
			if g.flows(i) {
				edges = append(edges, flowgraph.Edge{From: int32(g.source(i)), To: int32(b)})
			}
		}
	}
	g.flow = flowgraph.New(len(g.p.Graph.Blocks), edges)
	g.dom = g.flow.Dominators(g.roots())
	g.post = g.flow.Reverse().Dominators(g.ends())
	g.loops = g.flow.Loops(g.dom)
	for i := range g.p.Graph.Edges {
		// A retreating edge whose target does not dominate it closes a cycle
		// with several entries: it is no way in either.
		if e := &g.p.Graph.Edges[i]; g.within(e) && g.reached(e.From) && g.comesBack(e.From, e.To) {
			g.back[i] = true
		}
	}
}

// comesBack reports whether a way from a to b retreats.
func (g *graph) comesBack(a, b profile.BlockID) bool { return g.dom.Place[b] <= g.dom.Place[a] }

// flows reports whether an edge stays in its function, or leads there from a throw.
func (g *graph) flows(edge int32) bool {
	_, caught := g.thrown[edge]
	return caught || g.within(&g.p.Graph.Edges[edge])
}

// source is the block that an edge leaves; of an exception the one of the pad's
// function.
func (g *graph) source(edge int32) profile.BlockID {
	if b, ok := g.thrown[edge]; ok {
		return b
	}
	return g.p.Graph.Edges[edge].From
}

// roots lists where functions can be entered: each one's entry, then its
// landing pads and where else threads come in.
func (g *graph) roots() (roots []int32) {
	for i := range g.p.Graph.Functions {
		f := &g.p.Graph.Functions[i]
		if f.N == 0 || !g.concerns[i] {
			continue
		}
		roots = append(roots, int32(f.EntryBlock))
		for b := f.First; b < f.First+profile.BlockID(f.N); b++ {
			if b != f.EntryBlock && !g.p.Graph.Blocks[b].Resumes && g.startsAt(b) {
				roots = append(roots, int32(b))
			}
		}
	}
	return roots
}

// startsAt reports whether control comes to a block from outside its function
// otherwise than by a call.
func (g *graph) startsAt(b profile.BlockID) bool {
	for _, i := range g.ins.Of(int(b)) {
		if !g.flows(i) && !g.p.Graph.Edges[i].Kind.IsCall() {
			return true
		}
	}
	return false
}

// ends lists the blocks in which functions end, or beyond which nothing is known.
func (g *graph) ends() (ends []int32) {
	for b := range g.p.Graph.Blocks {
		if !g.concern(profile.BlockID(b)) {
			continue
		}
		end := true
		for _, i := range g.outs.Of(b) {
			if e := &g.p.Graph.Edges[i]; e.Kind == profile.Exit || e.Kind == profile.TailCall {
				end = true
				break
			} else if g.within(e) {
				end = false
			}
		}
		if end {
			ends = append(ends, int32(b))
		}
	}
	return ends
}

// findCalls works out the call graph's strongly connected components; calls
// inside one are back edges.
func (g *graph) findCalls() {
	blocks := g.p.Graph.Blocks
	known := func(e *profile.Edge) bool { return e.Kind.IsCall() && e.From >= 0 && e.To >= 0 }
	var calls []flowgraph.Edge
	for i := range g.p.Graph.Edges {
		if e := &g.p.Graph.Edges[i]; known(e) {
			calls = append(calls, flowgraph.Edge{From: int32(blocks[e.From].Function), To: int32(blocks[e.To].Function)})
		}
	}
	g.calls = flowgraph.New(len(g.p.Graph.Functions), calls)
	comps := 0
	g.comp, comps = g.calls.Components()
	for i := range g.p.Graph.Edges {
		e := &g.p.Graph.Edges[i]
		if known(e) && g.compOf(e.From) == g.compOf(e.To) {
			g.back[i] = true
		}
		if e.To >= 0 && (e.Kind.IsCall() || e.Kind == profile.Start) && !g.back[i] {
			g.entering = append(g.entering, int32(i))
		}
	}
	g.inComp = flowgraph.NewLists(comps, len(g.comp), func(f int) int { return int(g.comp[f]) })
	g.enters = flowgraph.NewLists(comps, len(g.entering), func(i int) int { return int(g.compOf(g.p.Graph.Edges[g.entering[i]].To)) })
}

// siteOf returns the call that stands for all copies of one in the source.
func (g *graph) siteOf(edge int32) int32 {
	if g.site == nil {
		return edge
	}
	return g.site[edge]
}

// compOf returns the call-graph component that a block belongs to.
func (g *graph) compOf(b profile.BlockID) int32 { return g.comp[g.p.Graph.Blocks[b].Function] }

// reaches reports whether functions of component a call, in the end, those of
// component b. Components are numbered callees first.
func (g *graph) reaches(a, b int32) bool {
	seen := map[int32]bool{a: true}
	walk := []int32{a}
	for len(walk) > 0 {
		k := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		if k == b {
			return true
		}
		for _, fn := range g.inComp.Of(int(k)) {
			for _, callee := range g.calls.Succ(fn) {
				if to := g.comp[callee]; to >= b && !seen[to] {
					seen[to] = true
					walk = append(walk, to)
				}
			}
		}
	}
	return false
}

// reached reports whether control can come to b from where its function is
// entered, as far as the graph shows.
func (g *graph) reached(b profile.BlockID) bool { return g.dom.Reached(int32(b)) }

// idom returns a block's immediate dominator, or NoBlock.
func (g *graph) idom(b profile.BlockID) profile.BlockID { return profile.BlockID(g.dom.Idom[b]) }

// dominates reports whether every way to b from its function's entry passes a.
func (g *graph) dominates(a, b profile.BlockID) bool { return g.dom.Dominates(int32(a), int32(b)) }

// postdominates reports whether every way from b out of its function passes a
// after b.
func (g *graph) postdominates(a, b profile.BlockID) bool {
	return a != b && g.post.Dominates(int32(a), int32(b))
}

// headed returns the loop that a block heads, or −1.
func (g *graph) headed(b profile.BlockID) int32 { return g.loops.Headed[b] }

// inLoop reports whether loop l holds b.
func (g *graph) inLoop(b profile.BlockID, l int32) bool { return g.loops.Holds(l, int32(b)) }

// blockSet is some blocks, in increasing order.
type blockSet []int32

func (s blockSet) has(b profile.BlockID) bool {
	_, ok := slices.BinarySearch(s, int32(b))
	return ok
}

// cycle returns the blocks that reach some of the back edges to head without
// passing through it, and head.
func (g *graph) cycle(head profile.BlockID, back []int32) blockSet {
	var latches []int32
	for _, i := range back {
		latches = append(latches, int32(g.p.Graph.Edges[i].From))
	}
	return g.flow.Cycle(g.dom, int32(head), latches...)
}
