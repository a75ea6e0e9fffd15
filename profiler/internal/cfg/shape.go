package cfg

import (
	"math/bits"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// shape computes what placing counters needs: dominators and natural loops,
// estimated frequencies, live flags, and which loops only wait.
func (g *Graph) shape() {
	order := g.reversePostorder()
	g.dominators(order)
	g.findLoops(order)
	g.estimate(order)
	g.liveFlags()
	g.markSpins()
}

// reversePostorder numbers the blocks; START leads to the entry and the pads.
func (g *Graph) reversePostorder() []*Block {
	order := make([]*Block, 0, len(g.Blocks))
	seen := make([]bool, len(g.Blocks))
	type frame struct {
		b *Block
		i int
	}
	var stack []frame
	visit := func(root *Block) {
		if seen[root.ID] {
			return
		}
		seen[root.ID] = true
		stack = append(stack[:0], frame{root, 0})
		for len(stack) > 0 {
			t := &stack[len(stack)-1]
			if t.i == len(t.b.Succ) {
				order = append(order, t.b)
				stack = stack[:len(stack)-1]
				continue
			}
			to := t.b.Succ[t.i].To
			t.i++
			if to != nil && !seen[to.ID] {
				seen[to.ID] = true
				stack = append(stack, frame{to, 0})
			}
		}
	}
	for i := len(g.Blocks) - 1; i >= 0; i-- {
		for _, e := range g.Blocks[i].Pred {
			if e.From == nil && g.Blocks[i] != g.Entry {
				visit(g.Blocks[i])
				break
			}
		}
	}
	visit(g.Entry)
	for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
		order[i], order[j] = order[j], order[i]
	}
	for i, b := range order {
		b.rpo = i
	}
	return order
}

// dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
func (g *Graph) dominators(order []*Block) {
	root := &Block{rpo: -1}
	root.idom = root
	meet := func(a, b *Block) *Block {
		for a != b {
			for a.rpo > b.rpo {
				a = a.idom
			}
			for b.rpo > a.rpo {
				b = b.idom
			}
		}
		return a
	}
	for changed := true; changed; {
		changed = false
		for _, b := range order {
			var d *Block
			for _, e := range b.Pred {
				p := e.From
				if p == nil {
					p = root
				}
				if p.idom == nil {
					continue
				}
				if d == nil {
					d = p
				} else {
					d = meet(d, p)
				}
			}
			if d != nil && b.idom != d {
				b.idom, changed = d, true
			}
		}
	}
}

func (b *Block) dominates(c *Block) bool {
	for c != nil && c.rpo >= b.rpo {
		if c == b {
			return true
		}
		c = c.idom
	}
	return false
}

func (g *Graph) findLoops(order []*Block) {
	byHead := map[*Block]*Loop{}
	for _, b := range order {
		for _, e := range b.Succ {
			if e.To == nil || !e.To.dominates(b) {
				continue
			}
			l := byHead[e.To]
			if l == nil {
				l = &Loop{Head: e.To, Inner: true, in: g.set(e.To)}
				byHead[e.To] = l
				g.Loops = append(g.Loops, l)
			}
			l.in.addCycle(b)
		}
	}
	for _, l := range g.Loops {
		l.Blocks = g.members(l.in)
	}
	sort.SliceStable(g.Loops, func(i, j int) bool { return len(g.Loops[i].Blocks) > len(g.Loops[j].Blocks) })
	for _, l := range g.Loops {
		if p := l.Head.Loop; p != nil { // the smallest of those before: larger ones, or as large
			l.Parent, p.Inner = p, false
		}
		for _, b := range l.Blocks {
			b.Loop = l // inner loops come later and overwrite
		}
	}
}

// set is the set of one block.
func (g *Graph) set(b *Block) bitset {
	in := make(bitset, (len(g.Blocks)+63)/64)
	in.put(b.ID)
	return in
}

// members lists a set's blocks by address.
func (g *Graph) members(in bitset) (list []*Block) {
	for w, set := range in {
		for ; set != 0; set &= set - 1 {
			list = append(list, g.Blocks[w<<6+bits.TrailingZeros64(set)])
		}
	}
	return list
}

// addCycle adds the blocks from which a latch is reached without passing what
// is in the set already: its head.
func (in bitset) addCycle(latch *Block) {
	for stack := []*Block{latch}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if in.has(x.ID) {
			continue
		}
		in.put(x.ID)
		for _, e := range x.Pred {
			if e.From != nil {
				stack = append(stack, e.From)
			}
		}
	}
}

// estimate gives every block and edge a frequency per call of the function:
// loops go round ten times, branches that leave a loop or lead into code that
// ends the program are rare.
func (g *Graph) estimate(order []*Block) {
	for _, b := range order {
		in := 0.0
		for _, e := range b.Pred {
			switch {
			case e.From == nil && e.Kind == Entry:
				in++
			case e.From == nil:
				in += 0.001
			case e.From.rpo < b.rpo:
				in += e.Freq
			}
		}
		if b.Loop != nil && b.Loop.Head == b {
			in *= 10
		}
		b.Freq = in + 1e-9
		for _, e := range b.Succ {
			e.Freq = b.Freq * g.probability(e)
		}
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

func (g *Graph) probability(e *Edge) float64 {
	if e.Kind == Caught {
		return 0
	}
	n := 0
	var o *Edge // another way on
	for _, x := range e.From.Succ {
		if x.Kind != Caught {
			n++
			if x != e {
				o = x
			}
		}
	}
	if n != 2 {
		return 1 / float64(n)
	}
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
