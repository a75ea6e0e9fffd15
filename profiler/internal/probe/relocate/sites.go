package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Sites calls do for the calls (c) and the jumps (no c) of a moved function
// through pointers whose targets are counted, in the order of their numbers. Counting takes
// r11, which is not free where the compiler may have known the target: see cfg.Graph.Large.
func (s *Spec) Sites(q *Plan, g *cfg.Graph, do func(b *cfg.Block, c *cfg.Call)) {
	eachSite(s.Program, q, g, do)
}

func eachSite(p *cfg.Program, q *Plan, g *cfg.Graph, do func(b *cfg.Block, c *cfg.Call)) {
	counted := func(in *x86.Insn) bool {
		return !(!in.HasMem && g.Large && p.Image.Go == nil || in.HasMem && (in.Mem.Base == x86.R11 || in.Mem.Index == x86.R11 || in.Mem.Segment != 0) || in.Mem.RIP && p.Image.GOT[in.RIPTarget] != "")
	}
	for _, b := range g.Blocks {
		for i := range b.Calls {
			if c := &b.Calls[i]; !c.Known() && !q.is(c, afterCall|afterArrival) && counted(c.Insn) {
				do(b, c)
			}
		}
		if last := b.Last(); last.Kind == x86.JmpInd && counted(last) {
			if _, ok := g.Targets(last.Addr); !ok {
				do(b, nil)
			}
		}
	}
}

// TailEdges are the edges by which a block's direct jump leaves the function.
func TailEdges(b *cfg.Block) (out []*cfg.Edge) {
	if !b.Last().Kind.IsJump() {
		return nil
	}
	for _, e := range b.Succ {
		if e.To == nil && (e.Kind == cfg.Exit || e.Kind == cfg.Taken) {
			out = append(out, e)
		}
	}
	return out
}
