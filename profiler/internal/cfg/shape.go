package cfg

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Shape adds to what Blocks returns what placing counters needs: dominators and natural loops,
// estimated frequencies, live flags, and which loops only wait.
func (g *Graph) Shape() {
	flow := g.flow()
	tree := flow.Dominators(g.roots())
	g.findLoops(flow, tree)
	g.estimate(tree)
	g.liveFlags()
	g.markSpins(flow, tree)
}

// flow is the graph by the blocks' numbers.
func (g *Graph) flow() *flowgraph.Graph {
	edges := make([]flowgraph.Edge, 0, len(g.Edges))
	for _, e := range g.Edges {
		if e.From != nil && e.To != nil {
			edges = append(edges, flowgraph.Edge{From: int32(e.From.ID), To: int32(e.To.ID)})
		}
	}
	return flowgraph.New(len(g.Blocks), edges)
}

// roots lists where START leads: the entry, then the pads, and where control
// resumes; but for the edges of some kinds.
func (g *Graph) roots(but ...EdgeKind) []int32 {
	roots := []int32{int32(g.Entry.ID)}
	for _, b := range g.Blocks {
		if b != g.Entry && slices.ContainsFunc(b.Pred, func(e *Edge) bool { return e.From == nil && !slices.Contains(but, e.Kind) }) {
			roots = append(roots, int32(b.ID))
		}
	}
	return roots
}

func (g *Graph) findLoops(flow *flowgraph.Graph, tree *flowgraph.Tree) {
	found := flow.Loops(tree)
	loops := make([]Loop, len(found.All))
	for i, x := range found.All {
		l := &loops[i]
		l.Head, l.Inner, l.latch = g.Blocks[x.Head], true, tree.Place[x.Latches[0]]
		g.Loops = append(g.Loops, l)
	}
	for i, x := range found.All {
		if x.Parent != flowgraph.None {
			loops[i].Parent, loops[x.Parent].Inner = &loops[x.Parent], false
		}
	}
	for _, b := range g.Blocks {
		if l := found.Inner[b.ID]; l != flowgraph.None {
			b.Loop = &loops[l]
		}
		for l := b.Loop; l != nil; l = l.Parent {
			l.Blocks = append(l.Blocks, b)
		}
	}
	slices.SortFunc(g.Loops, func(a, b *Loop) int {
		return cmp.Or(cmp.Compare(len(b.Blocks), len(a.Blocks)), cmp.Compare(a.latch, b.latch))
	})
}

// estimate gives every block and edge a frequency per call of the function:
// loops go round ten times, branches that leave a loop or lead into code that
// ends the program are rare.
func (g *Graph) estimate(tree *flowgraph.Tree) {
	for _, id := range tree.Order {
		b, in := g.Blocks[id], 0.0
		for _, e := range b.Pred {
			switch {
			case e.From == nil && e.Kind == Entry:
				in++
			case e.From == nil:
				in += 0.001
			case tree.Place[e.From.ID] < tree.Place[id]:
				in += e.Freq
			}
		}
		if b.Loop != nil && b.Loop.Head == b {
			in *= 10
		}
		b.Freq = in + 1e-9
		g.share(b)
	}
	for _, e := range g.Edges {
		if e.From == nil {
			e.Freq = 1
			if e.Kind != Entry {
				e.Freq = 0.001
			}
		}
	}
}

// share divides a block's frequency among the ways on. All at once: hundreds of places of an
// interpreter may jump to hundreds of labels each.
func (g *Graph) share(b *Block) {
	n := 0
	var first, second *Edge // the last two
	for _, e := range b.Succ {
		if e.Freq = 0; e.Kind != Caught {
			first, second = second, e
			n++
		}
	}
	if n == 2 {
		p := g.probability(first, second)
		first.Freq, second.Freq = b.Freq*p, b.Freq*(1-p)
		return
	}
	for _, e := range b.Succ {
		if e.Kind != Caught {
			e.Freq = b.Freq / float64(n)
		}
	}
}

// probability is that of one way on, where there is another one.
func (g *Graph) probability(e, o *Edge) float64 {
	l := e.From.Loop
	leaves := func(x *Edge) bool { return l != nil && (x.To == nil || !l.Has(x.To)) }
	switch {
	case g.cold(e) && !g.cold(o):
		return 0.001
	case g.cold(o) && !g.cold(e):
		return 0.999
	case leaves(e) && !leaves(o):
		return 0.1
	case leaves(o) && !leaves(e):
		return 0.9
	}
	return 0.5
}

// cold: leads into a .cold part, or into a block that ends the program.
func (g *Graph) cold(e *Edge) bool {
	if e.To == nil {
		return false
	}
	t := e.To
	if n := len(t.Calls); n > 0 && t.Calls[n-1].NoReturn {
		return true
	}
	for i := range t.Insns {
		if in := &t.Insns[i]; in.Map == 1 && in.Opcode == 0x0b { // ud2
			return true
		}
	}
	return t.Last().Kind == x86.Stop || t.Start < g.Ranges[0].Lo || t.Start >= g.Ranges[0].Hi
}

func (g *Graph) liveFlags() {
	for _, b := range g.Blocks {
		b.reads, b.kills = 0, 0
		for i := len(b.Insns) - 1; i >= 0; i-- {
			in := &b.Insns[i]
			b.reads, b.kills = b.reads&^in.FlagsKilled|in.FlagsRead, b.kills|in.FlagsKilled
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(g.Blocks) - 1; i >= 0; i-- {
			b := g.Blocks[i]
			var out x86.Flags
			for _, e := range b.Succ {
				if e.To != nil {
					out |= e.To.LiveIn
				}
			}
			in := out&^b.kills | b.reads
			if out != b.LiveOut || in != b.LiveIn {
				b.LiveOut, b.LiveIn, changed = out, in, true
			}
		}
	}
}

// LiveAt returns the flags that are live before instruction k, given those
// live behind the block.
func (b *Block) LiveAt(k int, out x86.Flags) x86.Flags {
	for i := len(b.Insns) - 1; i >= k; i-- {
		out = out&^b.Insns[i].FlagsKilled | b.Insns[i].FlagsRead
	}
	return out
}
