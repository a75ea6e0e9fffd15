package livepatch

import (
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

const page = 4096

// GiveBack makes the code on the pages between two addresses what it was, for a
// program that is about to change it, and lets whoever comes to the copy of a
// function there go on at its original. Threads inside of copies stay there
// until they leave. alone: no other thread runs, which could be at the beginning
// of such a copy; else it gets an int3, and who comes there is [Patcher.Left]. It
// returns the functions whose counts are not known from now on. Pages that were
// given back already are the program's: they stay.
func (p *Patcher) GiveBack(lo, hi uint64, alone bool) (given []*cfg.Func, err error) {
	g := giving{p: p, alone: alone, jumps: p.jumps(), lost: map[*cfg.Func]bool{}}
	for a := lo &^ (page - 1); a < hi; a += page {
		if p.given[a] {
			continue
		}
		if n := len(g.runs); n > 0 && g.runs[n-1].Hi == a {
			g.runs[n-1].Hi += page
		} else {
			g.runs = append(g.runs, cfg.Range{Lo: a, Hi: a + page})
		}
	}
	if len(g.runs) == 0 {
		return nil, nil
	}
	for i, q := range p.s.Plans() {
		if g.touches(q.Func) {
			g.lost[q.Func] = true
			if err := g.leave(i, q.Func); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range g.runs {
		if err := g.restore(g.whole(r)); err != nil {
			return nil, err
		}
	}
	for _, r := range g.runs {
		for a := r.Lo; a < r.Hi; a += page {
			p.given[a] = true
		}
	}
	return slices.Collect(maps.Keys(g.lost)), nil
}

// gaveBack reports whether an address is on a page that is the program's again.
func (p *Patcher) gaveBack(addr uint64) bool { return p.given[addr&^(page-1)] }

// Left returns the address at which a thread goes on that ran into an int3 at an
// offset of the cache, where the function's copy was left.
func (p *Patcher) Left(offset uint64) (addr uint64, ok bool) {
	addr, ok = p.left[offset]
	return addr, ok
}

// giving is what is under way.
type giving struct {
	p     *Patcher
	alone bool
	runs  []cfg.Range // of pages
	jumps []jump      // all that there are
	lost  map[*cfg.Func]bool
}

func (g *giving) touches(f *cfg.Func) bool {
	return slices.ContainsFunc(f.Ranges, func(r cfg.Range) bool {
		return slices.ContainsFunc(g.runs, func(x cfg.Range) bool { return r.Lo < x.Hi && x.Lo < r.Hi })
	})
}

// leave lets the copy of a function's first instruction jump to the original:
// every way in comes by it.
func (g *giving) leave(index int, f *cfg.Func) error {
	entry := f.Ranges[0].Lo
	for _, x := range g.p.s.Copied(g.p.c, index) {
		if x.Addr == entry {
			at := g.p.c.Base + uint64(x.Start)
			if !g.alone {
				g.p.left[uint64(x.Start)] = entry
				return g.p.write(at, []byte{asm.Breakpoint})
			}
			j := asm.Jump(at, entry)
			return g.p.write(at, j[:])
		}
	}
	return nil // nobody comes to a copy that has none
}

// whole is a run with the instructions that reach over its ends: a patched one is
// restored as a whole.
func (g *giving) whole(r cfg.Range) cfg.Range {
	if in := g.over(r.Lo); in != nil {
		r.Lo = in.Addr
	}
	if in := g.over(r.Hi); in != nil {
		r.Hi = in.End()
	}
	return r
}

// over is the instruction that begins before an address and ends behind it, or nil.
func (g *giving) over(a uint64) *x86.Insn {
	for d := uint64(1); d < 15; d++ {
		if in := g.p.insn(a - d); in != nil && in.End() > a {
			return in
		}
	}
	return nil
}

// restore writes the original bytes, also of jumps of ours that reach in from
// outside, and of those that lead to one that was there.
func (g *giving) restore(r cfg.Range) error {
	p := g.p
	if err := p.rewrite(r); err != nil {
		return err
	}
	for _, j := range g.jumps {
		inside, over := j.at >= r.Lo && j.at < r.Hi, j.at < r.Hi && j.at+j.length > r.Lo
		leads := j.length == asm.ShortJumpLen && j.to >= r.Lo && j.to < r.Hi
		if inside || !over && !leads || p.undone[j.at] {
			continue
		}
		p.undone[j.at] = true
		if f := p.s.Program.Owner(j.at); f != nil {
			g.lost[f] = true
		}
		if err := g.restore(cfg.Range{Lo: j.at, Hi: j.at + j.length}); err != nil {
			return err
		}
	}
	return nil
}

// rewrite writes what was replaced, but for pages that are the program's again.
func (p *Patcher) rewrite(r cfg.Range) error {
	for _, t := range p.c.Texts {
		for a := max(r.Lo, t.Addr); a < min(r.Hi, t.Addr+uint64(len(t.Old))); a++ {
			o := a - t.Addr
			replaced := t.New[o] != t.Old[o] || p.claimed[a]
			if !replaced || p.gaveBack(a) {
				continue
			}
			if err := p.write(a, t.Old[o:o+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// jump is one of ours, in the program's text.
type jump struct{ at, to, length uint64 }

func (p *Patcher) jumps() (list []jump) {
	for _, at := range p.c.Jumps() {
		to, n := p.c.JumpAt(at)
		list = append(list, jump{at, to, uint64(n)})
	}
	for at := range p.targets {
		switch island := p.by[at]; {
		case island != 0:
			list = append(list, jump{at, island, asm.ShortJumpLen}, jump{island, 0, asm.JumpLen})
		case !p.traps[at]:
			list = append(list, jump{at, 0, asm.JumpLen})
		}
	}
	return list
}
