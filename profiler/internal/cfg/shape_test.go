package cfg

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// drawn is a graph of n empty blocks; block 0 is the entry, the last a pad.
func drawn(n int, edges [][2]int) *Graph {
	g := &Graph{Func: &Func{}}
	add := func(from, to *Block, k EdgeKind) {
		e := &Edge{ID: len(g.Edges), From: from, To: to, Kind: k}
		g.Edges = append(g.Edges, e)
		to.Pred = append(to.Pred, e)
		if from != nil {
			from.Succ = append(from.Succ, e)
		}
	}
	for i := range n {
		g.Blocks = append(g.Blocks, &Block{ID: i})
	}
	g.Entry = g.Blocks[0]
	add(nil, g.Entry, Entry)
	for _, e := range edges {
		add(g.Blocks[e[0]], g.Blocks[e[1]], Jump)
	}
	add(nil, g.Blocks[n-1], Pad)
	return g
}

// nop is an instruction that goes on.
var nop = x86.Insn{Kind: x86.Normal}

// Loops come outermost first; a block's is the innermost, a loop's parent the
// smallest around it.
func TestLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	nested := 0
	for range 2000 {
		n := 2 + rng.IntN(10)
		var edges [][2]int
		for i := range n - 1 {
			edges = append(edges, [2]int{i, i + 1}, [2]int{rng.IntN(n), rng.IntN(n)})
		}
		g := drawn(n, edges)
		flow := g.flow()
		tree := flow.Dominators(g.roots())
		g.findLoops(flow, tree)
		for i, l := range g.Loops {
			if i > 0 && len(l.Blocks) > len(g.Loops[i-1].Blocks) {
				t.Fatalf("%v: a loop of %d blocks after one of %d", edges, len(l.Blocks), len(g.Loops[i-1].Blocks))
			}
			var parent *Loop // the last, and so smallest, before this one that holds its head
			for _, o := range g.Loops[:i] {
				if o.Has(l.Head) {
					parent = o
				}
			}
			inner := !slices.ContainsFunc(g.Loops, func(o *Loop) bool { return o.Parent == l })
			if l.Parent != parent || l.Inner != inner {
				t.Fatalf("%v: loop at %d: wrong parent, or Inner is %v", edges, l.Head.ID, l.Inner)
			}
			if parent != nil {
				nested++
			}
			for _, b := range g.Blocks {
				if l.Has(b) != slices.Contains(l.Blocks, b) {
					t.Fatalf("%v: loop at %d has %d: %v", edges, l.Head.ID, b.ID, l.Has(b))
				}
				if l.Has(b) && !tree.Dominates(int32(l.Head.ID), int32(b.ID)) {
					t.Fatalf("%v: loop at %d holds %d without dominating it", edges, l.Head.ID, b.ID)
				}
			}
		}
		for _, b := range g.Blocks {
			var in *Loop
			for _, l := range g.Loops {
				if slices.Contains(l.Blocks, b) {
					in = l
				}
			}
			if b.Loop != in {
				t.Fatalf("%v: block %d is of another loop", edges, b.ID)
			}
		}
	}
	if nested < 500 {
		t.Errorf("only %d nested loops: the graphs test too little", nested)
	}
}

// A loop's blocks run ten times as often as its entry, a pad hardly ever.
func TestEstimate(t *testing.T) {
	g := drawn(4, [][2]int{{0, 1}, {1, 1}, {1, 2}, {3, 2}})
	flow := g.flow()
	tree := flow.Dominators(g.roots())
	g.findLoops(flow, tree)
	for i := range g.Blocks {
		g.Blocks[i].Start = uint64(i)
	}
	g.Ranges = []Range{{0, 4}}
	for _, b := range g.Blocks { // estimate looks at the last instruction
		b.Insns = append(b.Insns, nop)
	}
	g.estimate(tree)
	for id, want := range []float64{1, 10, 1.001, 0.001} {
		if f := g.Blocks[id].Freq; f < 0.99*want || f > 1.01*want {
			t.Errorf("block %d: frequency %v, want %v", id, f, want)
		}
	}
}
