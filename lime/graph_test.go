package lime

import (
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// drawn makes a profile of one function from its edges; block 0 is the entry.
func drawn(n int, edges [][2]int) *profile.Profile {
	p := &profile.Profile{}
	p.Graph.Functions = []profile.Function{{Name: "f", N: int32(n)}}
	for range n {
		p.Graph.Blocks = append(p.Graph.Blocks, profile.Block{Instructions: 1, Count: profile.NoEvent})
	}
	for _, e := range edges {
		p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: profile.BlockID(e[0]), To: profile.BlockID(e[1]), Kind: profile.Taken, Count: profile.NoEvent})
	}
	return p
}

// reach lists what can be reached from block 0 when one block is removed.
func reach(n int, edges [][2]int, from, without int) []bool {
	seen := make([]bool, n)
	if from == without {
		return seen
	}
	seen[from] = true
	for again := true; again; {
		again = false
		for _, e := range edges {
			if seen[e[0]] && !seen[e[1]] && e[1] != without {
				seen[e[1]], again = true, true
			}
		}
	}
	return seen
}

// Dominance, postdominance and loops of random graphs against their definitions.
func TestGraphAgainstDefinitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		n := 2 + rng.IntN(12)
		var edges [][2]int
		has := map[[2]int]bool{}
		for range n + rng.IntN(n+1) {
			e := [2]int{rng.IntN(n), rng.IntN(n)}
			if !has[e] {
				has[e] = true
				edges = append(edges, e)
			}
		}
		g := newGraph(drawn(n, edges))
		all := reach(n, edges, 0, -1)
		dom := func(a, b int) bool { return all[a] && all[b] && (a == b || !reach(n, edges, 0, a)[b]) }
		out := make([]int, n)
		for _, e := range edges {
			out[e[0]]++
		}
		// ends reports whether some way from b leaves the function without a.
		ends := func(b, a int) bool {
			for x, ok := range reach(n, edges, b, a) {
				if ok && out[x] == 0 {
					return true
				}
			}
			return false
		}
		for a := range n {
			for b := range n {
				if got, want := g.dominates(profile.BlockID(a), profile.BlockID(b)), dom(a, b); got != want {
					t.Fatalf("%v: dominates(%d, %d) = %v", edges, a, b, got)
				}
				if want := a != b && ends(b, -1) && !ends(b, a); all[b] && g.postdominates(profile.BlockID(a), profile.BlockID(b)) != want {
					t.Fatalf("%v: postdominates(%d, %d) = %v", edges, a, b, !want)
				}
			}
		}
		for h := range n {
			body, any := make([]bool, n), false
			for _, e := range edges { // the natural loop: what reaches a latch without h
				if e[1] == h && dom(h, e[0]) {
					any = true
					for b := range n {
						if all[b] && (b == h || reach(n, edges, b, h)[e[0]]) {
							body[b] = true
						}
					}
				}
			}
			l := g.headed(profile.BlockID(h))
			if (l >= 0) != any {
				t.Fatalf("%v: loop at %d: %v", edges, h, l >= 0)
			}
			for b := range n {
				if any && g.inLoop(profile.BlockID(b), l) != body[b] {
					t.Fatalf("%v: loop at %d holds %d: %v", edges, h, b, !body[b])
				}
			}
		}
		acyclic(t, g, edges)
	}
}

// acyclic checks that no cycle is left without its back edges.
func acyclic(t *testing.T, g *graph, edges [][2]int) {
	var rest [][2]int
	for i, e := range edges {
		if !g.back[i] && g.dom.Reached(int32(e[0])) {
			rest = append(rest, e)
		}
	}
	for _, e := range rest {
		if reach(g.flow.Len(), rest, e[1], -1)[e[0]] {
			t.Fatalf("%v: a cycle through %v has no back edge", edges, e)
		}
	}
}

func TestRecursionIsAComponent(t *testing.T) {
	m := newMachine()
	leaf := m.function("leaf", &work{instructions: 1})
	even, odd := m.function("even"), m.function("odd")
	m.p.Graph.Edges = nil
	mutual := []profile.Edge{
		{From: even.entry, To: odd.entry, Kind: profile.Call, Count: profile.NoEvent},
		{From: odd.entry, To: even.entry, Kind: profile.TailCall, Count: profile.NoEvent},
		{From: odd.entry, To: leaf.entry, Kind: profile.Call, Count: profile.NoEvent},
		{From: profile.NoBlock, To: even.entry, Kind: profile.Start, Count: profile.NoEvent},
	}
	m.p.Graph.Edges = mutual
	g := newGraph(&m.p)
	if g.comp[even.id] != g.comp[odd.id] || g.comp[leaf.id] >= g.comp[even.id] {
		t.Errorf("components %v: even and odd are one, after leaf", g.comp)
	}
	for i, want := range []bool{true, true, false, false} {
		if g.back[i] != want {
			t.Errorf("edge %d: back is %v", i, g.back[i])
		}
	}
}
