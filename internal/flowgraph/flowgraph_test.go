package flowgraph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph/flow"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// drawn is a random graph with some roots: irreducible more often than not,
// with repeated edges, vertices that lead to themselves, and vertices that no
// root leads to.
func drawn(rng *rand.Rand, most int) (n int, edges []Edge, roots []int32) {
	n = 1 + rng.IntN(most)
	for range rng.IntN(2*n + 1) {
		edges = append(edges, Edge{int32(rng.IntN(n)), int32(rng.IntN(n))})
	}
	roots = []int32{int32(rng.IntN(n))}
	for range rng.IntN(3) {
		if r := int32(rng.IntN(n)); !slices.Contains(roots, r) {
			roots = append(roots, r)
		}
	}
	return n, edges, roots
}

// outside is the number of gonum's vertex that leads to all roots.
const outside = 1 << 20

func gonumGraph(n int, edges []Edge, roots []int32) *simple.DirectedGraph {
	g := simple.NewDirectedGraph()
	for v := range n {
		g.AddNode(simple.Node(v))
	}
	for _, e := range edges {
		if e.From != e.To { // it takes none; they dominate and connect nothing
			g.SetEdge(simple.Edge{F: simple.Node(e.From), T: simple.Node(e.To)})
		}
	}
	for _, r := range roots {
		g.SetEdge(simple.Edge{F: simple.Node(outside), T: simple.Node(r)})
	}
	return g
}

func TestDominatorsAgreeWithGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		n, edges, roots := drawn(rng, 40)
		tree := New(n, edges).Dominators(roots)
		want := flow.Dominators(simple.Node(outside), gonumGraph(n, edges, roots))
		for v := range int32(n) {
			d := want.DominatorOf(int64(v))
			switch {
			case (d != nil) != tree.Reached(v):
				t.Fatalf("%v from %v: %d reached: %v", edges, roots, v, tree.Reached(v))
			case d == nil || d.ID() == outside:
				if tree.Idom[v] != None {
					t.Fatalf("%v from %v: idom(%d) = %d, gonum has none", edges, roots, v, tree.Idom[v])
				}
			case d.ID() != int64(tree.Idom[v]):
				t.Fatalf("%v from %v: idom(%d) = %d, gonum %d", edges, roots, v, tree.Idom[v], d.ID())
			}
		}
	}
}

func TestComponentsAgreeWithGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		n, edges, _ := drawn(rng, 40)
		of, count := New(n, edges).Components()
		want := topo.TarjanSCC(gonumGraph(n, edges, nil))
		if len(want) != count {
			t.Fatalf("%v: %d components, gonum %d", edges, count, len(want))
		}
		for _, c := range want {
			for _, v := range c {
				if of[v.ID()] != of[c[0].ID()] {
					t.Fatalf("%v: %d and %d are one component", edges, v.ID(), c[0].ID())
				}
			}
		}
		for _, e := range edges {
			if of[e.To] > of[e.From] {
				t.Fatalf("%v: component %d leads to %d", edges, of[e.From], of[e.To])
			}
		}
	}
}

// reach lists what can be reached from some vertices when one is taken out.
func reach(n int, edges []Edge, from []int32, without int32) []bool {
	seen := make([]bool, n)
	for _, v := range from {
		seen[v] = v != without
	}
	for again := true; again; {
		again = false
		for _, e := range edges {
			if seen[e.From] && !seen[e.To] && e.To != without {
				seen[e.To], again = true, true
			}
		}
	}
	return seen
}

// Dominance and loops against their definitions.
func TestDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	loops := 0
	for range 600 {
		n, edges, roots := drawn(rng, 12)
		g := New(n, edges)
		tree := g.Dominators(roots)
		all := reach(n, edges, roots, None)
		dom := func(a, b int32) bool { return all[a] && all[b] && (a == b || !reach(n, edges, roots, a)[b]) }
		for a := range int32(n) {
			for b := range int32(n) {
				if got := tree.Dominates(a, b); got != dom(a, b) {
					t.Fatalf("%v from %v: dominates(%d, %d) = %v", edges, roots, a, b, got)
				}
			}
		}
		ls := g.Loops(tree)
		for h := range int32(n) {
			var latches []int32
			for _, e := range edges {
				if e.To == h && dom(h, e.From) {
					latches = append(latches, e.From)
				}
			}
			if (ls.Headed[h] != None) != (len(latches) > 0) {
				t.Fatalf("%v from %v: loop at %d: %v", edges, roots, h, ls.Headed[h])
			}
			if len(latches) == 0 {
				continue
			}
			loops++
			checkLoop(t, g, tree, ls, h, latches, func(v int32, latches []int32) bool {
				if !all[v] {
					return false
				}
				r := reach(n, edges, []int32{v}, h)
				return v == h || slices.ContainsFunc(latches, func(l int32) bool { return r[l] })
			})
		}
	}
	if loops < 300 {
		t.Errorf("only %d loops: the graphs test too little", loops)
	}
}

// checkLoop compares the loop at h, and the cycle of its first latch, with
// what in says of each vertex.
func checkLoop(t *testing.T, g *Graph, tree *Tree, ls *Loops, h int32, latches []int32, in func(v int32, latches []int32) bool) {
	l := ls.Headed[h]
	got := slices.Clone(ls.All[l].Latches)
	if slices.SortFunc(got, func(a, b int32) int { return int(a - b) }); !slices.Equal(got, slices.Sorted(slices.Values(latches))) {
		t.Fatalf("loop at %d: latches %v, want %v", h, got, latches)
	}
	var all, first []int32
	for v := range int32(g.Len()) {
		if ls.Holds(l, v) != in(v, latches) {
			t.Fatalf("loop at %d holds %d: %v", h, v, ls.Holds(l, v))
		}
		if in(v, latches) {
			all = append(all, v)
		}
		if in(v, latches[:1]) {
			first = append(first, v)
		}
	}
	if c := g.Cycle(tree, h, latches...); !slices.Equal(c, all) {
		t.Fatalf("cycle at %d: %v, want %v", h, c, all)
	}
	if c := g.Cycle(tree, h, latches[0]); !slices.Equal(c, first) {
		t.Fatalf("cycle at %d by %d: %v, want %v", h, latches[0], c, first)
	}
	if up := ls.All[l].Parent; up != None && (up <= l || !ls.Holds(up, h)) {
		t.Fatalf("loop %d at %d has parent %d", l, h, up)
	}
}

// Without the edges that go backwards in reverse postorder no cycle is left,
// reducible or not; and the roots come in their order.
func TestReversePostorder(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 500 {
		n, edges, roots := drawn(rng, 20)
		g := New(n, edges)
		tree := g.Dominators(roots)
		all := reach(n, edges, roots, None)
		for v := range int32(n) {
			if all[v] != tree.Reached(v) || all[v] && tree.Order[tree.Place[v]] != v {
				t.Fatalf("%v from %v: %d has place %d", edges, roots, v, tree.Place[v])
			}
		}
		var forward []Edge
		for _, e := range edges {
			if all[e.From] && tree.Place[e.To] > tree.Place[e.From] {
				forward = append(forward, e)
			}
		}
		if _, count := New(n, forward).Components(); count != n {
			t.Fatalf("%v from %v: forward edges form a cycle", edges, roots)
		}
		if first := tree.Order[0]; !slices.Contains(roots, first) {
			t.Fatalf("%v from %v: %d comes first", edges, roots, first)
		}
	}
}

// Edges that leave a vertex are followed in their order, and roots come in theirs.
func TestOrder(t *testing.T) {
	g := New(7, []Edge{{0, 1}, {0, 2}, {2, 3}, {1, 3}, {5, 4}, {4, 6}})
	if got := g.Dominators([]int32{0, 5}).Order; !slices.Equal(got, []int32{0, 2, 1, 3, 5, 4, 6}) {
		t.Errorf("order %v: of two ways on, the first comes last", got)
	}
	if got := g.Dominators([]int32{5, 0}).Order; got[0] != 5 || got[3] != 0 {
		t.Errorf("order %v: 5 and what it leads to come first", got)
	}
	post := g.Reverse().Dominators([]int32{3, 6})
	if !post.Dominates(3, 0) || post.Dominates(1, 0) || post.Idom[5] != 4 {
		t.Errorf("postdominators %v", post.Idom)
	}
}
