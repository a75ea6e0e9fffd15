package lime

import (
	"sort"

	"github.com/skewlens/skewlens/profile"
)

// graph is what the analysis knows of a program's control flow before it sees
// a single count: who dominates whom, which edges go backwards, which blocks
// form a loop and which functions call each other in a circle.
type graph struct {
	p        *profile.Profile
	ins      lists // by block: indices into Graph.Edges
	outs     lists
	ofEvent  lists             // by event: the edges that it counts
	back     []bool            // by edge: goes round a loop, or deeper into a recursion
	idom     []profile.BlockID // by block: its immediate dominator, or NoBlock
	pdom     []profile.BlockID // by block: its immediate postdominator, or NoBlock
	pre      []int32           // by block: its place in the dominator trees' preorder; −1: not reached from its function's entry
	last     []int32           // by block: the greatest pre of those that it dominates
	loops    []loop
	inner    []int32 // by block: the innermost loop that holds it, or −1
	headed   []int32 // by block: the loop that it heads, or −1
	comp     []int32 // by function: its component of the call graph, callees first
	comps    int
	callsOf  lists   // by function: the edges by which it calls
	inComp   lists   // by component: its functions
	entering []int32 // the edges that enter a component of the call graph from outside it
	enters   lists   // by component: indices into entering
}

// loop is a natural loop: the blocks that reach a back edge to head without
// passing through head.
type loop struct {
	head   profile.BlockID
	parent int32 // the loop around it, or −1
}

// lists is a table of lists of indices, stored end to end.
type lists struct{ start, item []int32 }

func (l lists) of(i int) []int32 { return l.item[l.start[i]:l.start[i+1]] }

// newLists groups the items 0 … n−1 by key(item); a negative key is in no list.
func newLists(keys, n int, key func(int) int) lists {
	l := lists{start: make([]int32, keys+1)}
	for i := range n {
		if k := key(i); k >= 0 {
			l.start[k+1]++
		}
	}
	for k := range keys {
		l.start[k+1] += l.start[k]
	}
	l.item = make([]int32, l.start[keys])
	next := append([]int32(nil), l.start...)
	for i := range n {
		if k := key(i); k >= 0 {
			l.item[next[k]] = int32(i)
			next[k]++
		}
	}
	return l
}

// isCall reports whether an edge of this kind enters a function.
func isCall(k profile.EdgeKind) bool {
	return k == profile.Call || k == profile.Indirect || k == profile.TailCall
}

func newGraph(p *profile.Profile) *graph {
	edges, n := p.Graph.Edges, len(p.Graph.Blocks)
	g := &graph{p: p, back: make([]bool, len(edges))}
	g.ins = newLists(n, len(edges), func(i int) int { return int(edges[i].To) })
	g.outs = newLists(n, len(edges), func(i int) int { return int(edges[i].From) })
	g.ofEvent = newLists(len(p.Events), len(edges), func(i int) int { return int(edges[i].Count) })
	g.components()
	g.idom, g.pdom = make([]profile.BlockID, n), make([]profile.BlockID, n)
	g.pre, g.last = make([]int32, n), make([]int32, n)
	g.inner, g.headed = make([]int32, n), make([]int32, n)
	for b := range n {
		g.idom[b], g.pdom[b] = profile.NoBlock, profile.NoBlock
		g.pre[b], g.last[b], g.inner[b], g.headed[b] = -1, -1, -1, -1
	}
	next := int32(0)
	for f := range p.Graph.Functions {
		next = g.dominators(&p.Graph.Functions[f], next)
	}
	g.findLoops()
	for i := range edges {
		if e := &edges[i]; e.To >= 0 && (isCall(e.Kind) || e.Kind == profile.Start) && !g.back[i] {
			g.entering = append(g.entering, int32(i))
		}
	}
	g.inComp = newLists(g.comps, len(g.comp), func(f int) int { return int(g.comp[f]) })
	g.enters = newLists(g.comps, len(g.entering), func(i int) int { return int(g.compOf(edges[g.entering[i]].To)) })
	return g
}

// within reports whether an edge stays inside its function.
func (g *graph) within(e *profile.Edge) bool {
	return e.From >= 0 && e.To >= 0 && e.Kind <= profile.Table &&
		g.p.Graph.Blocks[e.From].Function == g.p.Graph.Blocks[e.To].Function
}

// dominators walks one function: immediate dominators and postdominators, the
// dominator tree's preorder from next on, and the function's back edges.
// Where a function can be entered in several places (landing pads) they are
// all children of one root outside it.
func (g *graph) dominators(f *profile.Function, next int32) int32 {
	first, n := int(f.First), int(f.N)
	if n == 0 {
		return next
	}
	flow := flow{to: make([][]int32, n), from: make([][]int32, n), root: make([]bool, n), last: int(f.EntryBlock) - first}
	ends := make([]bool, n)
	flow.root[flow.last] = true
	for b := range n {
		for _, i := range g.ins.of(first + b) {
			e := &g.p.Graph.Edges[i]
			switch from := int32(int(e.From) - first); {
			case g.within(e):
				flow.from[b], flow.to[from] = append(flow.from[b], from), append(flow.to[from], int32(b))
			case !isCall(e.Kind):
				flow.root[b] = true
			}
		}
		ends[b] = true
		for _, i := range g.outs.of(first + b) {
			if e := &g.p.Graph.Edges[i]; e.Kind == profile.Exit || e.Kind == profile.TailCall {
				ends[b] = true
				break
			} else if g.within(e) {
				ends[b] = false
			}
		}
	}
	t := flow.dominators()
	next = g.number(first, t.at, t.up, next)
	for _, b := range t.at[1:] {
		for _, i := range g.outs.of(first + int(b)) {
			e := &g.p.Graph.Edges[i]
			// A retreating edge whose target does not dominate it closes a
			// loop with several entries: it is no way in either.
			if g.within(e) && t.place[int(e.To)-first] <= t.place[b] {
				g.back[i] = true
			}
		}
	}
	flow.to, flow.from, flow.root, flow.last = flow.from, flow.to, ends, -1
	t = flow.dominators()
	for k := 1; k < len(t.up); k++ {
		if t.up[k] > 0 {
			g.pdom[first+int(t.at[k])] = profile.BlockID(first + int(t.at[t.up[k]]))
		}
	}
	return next
}

// number gives the dominator tree of one function its preorder.
func (g *graph) number(first int, at, up []int32, next int32) int32 {
	kids := newLists(len(up), len(up), func(k int) int {
		if k == 0 {
			return -1
		}
		return int(up[k])
	})
	var walk []int32
	push := func(k int32) {
		ks := kids.of(int(k))
		for i := len(ks) - 1; i >= 0; i-- {
			walk = append(walk, ks[i])
		}
	}
	push(0)
	var seq []int
	for len(walk) > 0 {
		k := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		b := first + int(at[k])
		g.pre[b], g.last[b] = next, next
		if up[k] > 0 {
			g.idom[b] = profile.BlockID(first + int(at[up[k]]))
		}
		next++
		seq = append(seq, b)
		push(k)
	}
	for i := len(seq) - 1; i >= 0; i-- {
		if d := g.idom[seq[i]]; d >= 0 {
			g.last[d] = max(g.last[d], g.last[seq[i]])
		}
	}
	return next
}

// dominates reports whether every way to b from its function's entry passes a.
func (g *graph) dominates(a, b profile.BlockID) bool {
	return g.pre[a] >= 0 && g.pre[a] <= g.pre[b] && g.pre[b] <= g.last[a]
}

// postdominates reports whether every way from b out of its function passes a
// after b.
func (g *graph) postdominates(a, b profile.BlockID) bool {
	for b = g.pdom[b]; b >= 0; b = g.pdom[b] {
		if a == b {
			return true
		}
	}
	return false
}

// findLoops finds the natural loops and how they nest. Heads are taken from
// the inside outwards (a head inside a loop is dominated by that loop's
// head), so a walk that meets a finished loop steps over it as a whole.
func (g *graph) findLoops() {
	edges := g.p.Graph.Edges
	var heads []profile.BlockID
	latches := make(map[profile.BlockID][]profile.BlockID)
	for i := range edges {
		if e := &edges[i]; g.back[i] && g.within(e) && g.dominates(e.To, e.From) {
			if latches[e.To] == nil {
				heads = append(heads, e.To)
			}
			latches[e.To] = append(latches[e.To], e.From)
		}
	}
	sort.Slice(heads, func(i, j int) bool { return g.pre[heads[i]] > g.pre[heads[j]] })
	for _, h := range heads {
		id := int32(len(g.loops))
		g.loops = append(g.loops, loop{h, -1})
		g.headed[h] = id
		walk := append([]profile.BlockID(nil), latches[h]...)
		for len(walk) > 0 {
			b := walk[len(walk)-1]
			walk = walk[:len(walk)-1]
			if l := g.outermost(b); l == id || b == h && l < 0 {
				continue
			} else if l >= 0 {
				g.loops[l].parent = id
				b = g.loops[l].head
			} else {
				g.inner[b] = id
			}
			for _, i := range g.ins.of(int(b)) {
				if e := &edges[i]; g.within(e) && g.pre[e.From] >= 0 {
					walk = append(walk, e.From)
				}
			}
		}
		g.inner[h] = id
	}
}

// outermost returns the outermost loop found so far that holds b, or −1.
func (g *graph) outermost(b profile.BlockID) int32 {
	l := g.inner[b]
	for l >= 0 && g.loops[l].parent >= 0 {
		l = g.loops[l].parent
	}
	return l
}

// inLoop reports whether loop l holds b.
func (g *graph) inLoop(b profile.BlockID, l int32) bool {
	for i := g.inner[b]; i >= 0; i = g.loops[i].parent {
		if i == l {
			return true
		}
	}
	return false
}

// cycle returns the blocks that reach some of the back edges to head without
// passing through it, and head.
func (g *graph) cycle(head profile.BlockID, back []int32) map[profile.BlockID]bool {
	in := map[profile.BlockID]bool{head: true}
	var walk []profile.BlockID
	for _, i := range back {
		walk = append(walk, g.p.Graph.Edges[i].From)
	}
	for len(walk) > 0 {
		b := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		if in[b] {
			continue
		}
		in[b] = true
		for _, i := range g.ins.of(int(b)) {
			if e := &g.p.Graph.Edges[i]; g.within(e) && g.pre[e.From] >= 0 {
				walk = append(walk, e.From)
			}
		}
	}
	return in
}
