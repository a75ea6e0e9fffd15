package lime

import "github.com/skewlens/skewlens/profile"

// components finds the strongly connected components of the call graph
// (Tarjan), numbered callees first, and marks the calls inside one as back
// edges.
func (g *graph) components() {
	edges, blocks, n := g.p.Graph.Edges, g.p.Graph.Blocks, len(g.p.Graph.Functions)
	g.callsOf = newLists(n, len(edges), func(i int) int {
		if e := &edges[i]; isCall(e.Kind) && e.From >= 0 && e.To >= 0 {
			return int(blocks[e.From].Function)
		}
		return -1
	})
	g.comp = make([]int32, n)
	index, low := make([]int32, n), make([]int32, n) // index 0: not visited
	open := make([]bool, n)
	var stack []int32
	type frame struct{ f, k int32 }
	var walk []frame
	count := int32(0)
	enter := func(f int32) {
		count++
		index[f], low[f], open[f] = count, count, true
		stack = append(stack, f)
		walk = append(walk, frame{f, 0})
	}
	for root := range n {
		if index[root] != 0 {
			continue
		}
		enter(int32(root))
		for len(walk) > 0 {
			top := &walk[len(walk)-1]
			f := top.f
			if cs := g.callsOf.of(int(f)); int(top.k) < len(cs) {
				to := int32(blocks[edges[cs[top.k]].To].Function)
				top.k++
				if index[to] == 0 {
					enter(to)
				} else if open[to] {
					low[f] = min(low[f], index[to])
				}
				continue
			}
			walk = walk[:len(walk)-1]
			if len(walk) > 0 {
				up := walk[len(walk)-1].f
				low[up] = min(low[up], low[f])
			}
			if low[f] == index[f] {
				for {
					m := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					open[m], g.comp[m] = false, int32(g.comps)
					if m == f {
						break
					}
				}
				g.comps++
			}
		}
	}
	for f := range n {
		for _, i := range g.callsOf.of(f) {
			if g.comp[f] == g.comp[blocks[edges[i].To].Function] {
				g.back[i] = true
			}
		}
	}
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
		for _, fn := range g.inComp.of(int(k)) {
			for _, i := range g.callsOf.of(int(fn)) {
				if to := g.compOf(g.p.Graph.Edges[i].To); to >= b && !seen[to] {
					seen[to] = true
					walk = append(walk, to)
				}
			}
		}
	}
	return false
}
