package cfg

import (
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Threads of a pool may go round until somebody else says that all is done, and look
// in each round whether there is a piece:
//
//	while (!pool->stop) { if (task = take(pool)) run(task); }
//
// What was taken does not decide when such a loop ends, and nothing that the thread
// itself has counted: how often it goes round is how many pieces it came to.

// untilTold adds, to the branches that depend on what was taken, those by which a
// loop around them is left that depend on nothing but a word which the loop does
// not write.
func (g *Graph) untilTold(by []bool, loops *flowgraph.Loops, framed bool) {
	in := map[int32][]*Block{} // of loops that such branches stand in
	for i := range by {
		for l := loops.Inner[i]; by[i] && l != flowgraph.None; l = loops.All[l].Parent {
			in[l] = nil
		}
	}
	if len(in) == 0 {
		return
	}
	for i, b := range g.Blocks {
		for l := loops.Inner[i]; l != flowgraph.None; l = loops.All[l].Parent {
			if _, is := in[l]; is {
				in[l] = append(in[l], b)
			}
		}
	}
	for l, blocks := range in {
		w := written(blocks)
		for _, b := range blocks {
			leaves := slices.ContainsFunc(b.Succ, func(e *Edge) bool { return e.Kind != Caught && e.To != nil && !within(loops, e.To, l) })
			by[b.ID] = by[b.ID] || leaves && b.Last().Kind == x86.Jcc && w.told(b, framed)
		}
	}
}

// within reports whether a loop holds a block.
func within(loops *flowgraph.Loops, b *Block, l int32) bool {
	at := loops.Inner[b.ID]
	for at != l && at != flowgraph.None {
		at = loops.All[at].Parent
	}
	return at == l
}

// rewrites is what the rounds of a loop write themselves, without the functions that
// they call.
type rewrites struct {
	regs  x86.Regs
	cells []cell
}

func written(blocks []*Block) (w rewrites) {
	for _, b := range blocks {
		w.regs |= writtenBy(b.Insns)
		for i := range b.Insns {
			if in := &b.Insns[i]; in.HasMem && in.Stores {
				w.cells = append(w.cells, cellOf(in))
			}
		}
	}
	return w
}

// told reports whether the flags at the end of a block compare what lies in memory that
// is not the frame's with something that is the same in each round.
func (w *rewrites) told(b *Block, framed bool) (is bool) {
	same, shared := ^w.regs, x86.Regs(0) // registers that hold what is the same, and such words
	for i := range b.Insns {
		in := &b.Insns[i]
		if in.Kind.IsCall() {
			same, shared = same&^scratch|^w.regs, shared&^scratch
			continue
		}
		address := in.Mem.Base.Set() | in.Mem.Index.Set()
		loads := in.HasMem && in.Loads && !in.Stores && address&^same == 0 && !slices.Contains(w.cells, cellOf(in))
		steady := (in.Use&^address)&^same == 0 && (!in.HasMem || loads)
		word := steady && (loads && !isSlot(in, framed) || (in.Use&^address)&shared != 0)
		switch {
		case isCompare(in):
			is = word
		case in.FlagsKilled != 0:
			is = false
		}
		same, shared = same&^in.Def, shared&^in.Def
		if steady {
			same |= in.Def
		}
		if word {
			shared |= in.Def
		}
	}
	return is
}
