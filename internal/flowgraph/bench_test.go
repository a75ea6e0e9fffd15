package flowgraph

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/flow"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// program draws 24,000 blocks in functions of 1 to 3,000: chains with branches
// forward and loops, as compilers make them.
func program() (functions [][]Edge, sizes []int) {
	rng := rand.New(rand.NewPCG(8, 8))
	for left := 24000; left > 0; {
		n := 1 + rng.IntN(40)
		if rng.IntN(20) == 0 {
			n = 1 + rng.IntN(3000)
		}
		n = min(n, left)
		left -= n
		var edges []Edge
		for v := range n - 1 {
			edges = append(edges, Edge{int32(v), int32(v + 1)})
			switch rng.IntN(4) {
			case 0, 1:
				edges = append(edges, Edge{int32(v), int32(min(n-1, v+2+rng.IntN(20)))})
			case 2:
				edges = append(edges, Edge{int32(v), int32(max(0, v-rng.IntN(12)))})
			}
		}
		functions, sizes = append(functions, edges), append(sizes, n)
	}
	return functions, sizes
}

func BenchmarkDominators(b *testing.B) {
	functions, sizes := program()
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, edges := range functions {
				New(sizes[i], edges).Dominators([]int32{0})
			}
		}
	})
	b.Run("gonum", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, edges := range functions {
				flow.Dominators(simple.Node(outside), gonumGraph(sizes[i], edges, []int32{0}))
			}
		}
	})
	b.Run("gonum on our graph", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, edges := range functions {
				flow.Dominators(simple.Node(0), asGonum{New(sizes[i], edges)})
			}
		}
	})
}

func BenchmarkComponents(b *testing.B) {
	functions, sizes := program()
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, edges := range functions {
				New(sizes[i], edges).Components()
			}
		}
	})
	b.Run("gonum", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, edges := range functions {
				topo.TarjanSCC(gonumGraph(sizes[i], edges, nil))
			}
		}
	})
	b.Run("gonum on our graph", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, edges := range functions {
				topo.TarjanSCC(asGonum{New(sizes[i], edges)})
			}
		}
	})
}

// asGonum shows a Graph to gonum as one of its own, without copying it.
type asGonum struct{ g *Graph }

func nodes(vs []int32) graph.Nodes {
	list := make([]graph.Node, len(vs))
	for i, v := range vs {
		list[i] = simple.Node(v)
	}
	return iterator.NewOrderedNodes(list)
}

func (a asGonum) Node(id int64) graph.Node  { return simple.Node(id) }
func (a asGonum) From(id int64) graph.Nodes { return nodes(a.g.Succ(int32(id))) }
func (a asGonum) To(id int64) graph.Nodes   { return nodes(a.g.Pred(int32(id))) }
func (a asGonum) Edge(u, v int64) graph.Edge {
	return simple.Edge{F: simple.Node(u), T: simple.Node(v)}
}
func (a asGonum) HasEdgeBetween(x, y int64) bool {
	return a.HasEdgeFromTo(x, y) || a.HasEdgeFromTo(y, x)
}
func (a asGonum) HasEdgeFromTo(u, v int64) bool {
	for _, w := range a.g.Succ(int32(u)) {
		if int64(w) == v {
			return true
		}
	}
	return false
}

func (a asGonum) Nodes() graph.Nodes {
	all := make([]int32, a.g.Len())
	for v := range all {
		all[v] = int32(v)
	}
	return nodes(all)
}
