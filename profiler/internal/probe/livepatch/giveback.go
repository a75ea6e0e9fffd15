package livepatch

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
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
	g := giving{p: p, alone: alone, lost: map[*cfg.Func]bool{}}
	for a := lo &^ (page - 1); a < hi; a += page {
		if !p.given[a] {
			g.pages = append(g.pages, a)
		}
	}
	if len(g.pages) == 0 {
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
	for _, a := range g.pages {
		if err := g.restore(g.begin(a), g.end(a+page)); err != nil {
			return nil, err
		}
	}
	for _, a := range g.pages {
		p.given[a] = true
	}
	for f := range g.lost {
		given = append(given, f)
	}
	return given, nil
}

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
	pages []uint64
	lost  map[*cfg.Func]bool
}

func (g *giving) touches(f *cfg.Func) bool {
	for _, r := range f.Ranges {
		for _, a := range g.pages {
			if r.Lo < a+page && a < r.Hi {
				return true
			}
		}
	}
	return false
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

// begin and end are an address, or that of the instruction over it: a patched
// one is restored as a whole.
func (g *giving) begin(a uint64) uint64 {
	for d := uint64(1); d < 15; d++ {
		if in := g.p.insn(a - d); in != nil && in.End() > a {
			return in.Addr
		}
	}
	return a
}

func (g *giving) end(a uint64) uint64 {
	for d := uint64(1); d < 15; d++ {
		if in := g.p.insn(a - d); in != nil && in.End() > a {
			return in.End()
		}
	}
	return a
}

// restore writes the original bytes, also of jumps of ours that reach in from
// outside, and of those that lead to one that was there.
func (g *giving) restore(lo, hi uint64) error {
	if err := g.p.rewrite(lo, hi); err != nil {
		return err
	}
	for _, j := range g.p.jumps() {
		inside, over := j.at >= lo && j.at < hi, j.at < hi && j.at+j.length > lo
		leads := j.length == asm.ShortJumpLen && j.to >= lo && j.to < hi
		if inside || !over && !leads || g.undone(j.at) {
			continue
		}
		if f := g.p.s.Program.Owner(j.at); f != nil {
			g.lost[f] = true
		}
		if err := g.restore(j.at, j.at+j.length); err != nil {
			return err
		}
	}
	return nil
}

// rewrite writes what was replaced, but for pages that are the program's again.
func (p *Patcher) rewrite(lo, hi uint64) error {
	for _, t := range p.c.Texts {
		for a := max(lo, t.Addr); a < min(hi, t.Addr+uint64(len(t.Old))); a++ {
			o := a - t.Addr
			replaced := t.New[o] != t.Old[o] || p.claimed[a]
			if !replaced || p.given[a&^(page-1)] {
				continue
			}
			if err := p.write(a, t.Old[o:o+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// undone notes that a jump outside of the pages is taken out, and reports whether it was.
func (g *giving) undone(at uint64) bool {
	was := g.p.undone[at]
	g.p.undone[at] = true
	return was
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
