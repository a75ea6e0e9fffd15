package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// Live is which general registers may still be read, by block. Who leaves the
// function, or calls, may read any: hand-written code returns in registers, and
// takes arguments in registers, that no convention names, and compilers let
// callers keep values in those that a callee is known not to touch (-fipa-ra). What
// another module defines is called by the convention: the linkage table may overwrite
// two registers on the way.
type Live struct{ in, out []x86.Regs }

// LiveRegisters is the same question as for flags, but asked by few: it is
// answered anew each time, in the memory of the last answer.
func (g *Graph) LiveRegisters(mem *Live) {
	n := len(g.Blocks)
	mem.in, mem.out = append(mem.in[:0], make([]x86.Regs, n)...), append(mem.out[:0], make([]x86.Regs, n)...)
	for changed := true; changed; {
		changed = false
		for i := n - 1; i >= 0; i-- {
			b := g.Blocks[i]
			out := b.wanted(mem)
			in := out
			for k := len(b.Insns) - 1; k >= 0; k-- {
				in = b.before(k, in)
			}
			if in != mem.in[i] || out != mem.out[i] {
				mem.in[i], mem.out[i], changed = in, out, true
			}
		}
	}
}

// wanted are the registers that may be read behind a block.
func (b *Block) wanted(mem *Live) (out x86.Regs) {
	if len(b.Succ) == 0 {
		return x86.AllRegs
	}
	for _, e := range b.Succ {
		if e.To == nil || e.Uncountable {
			return x86.AllRegs
		}
		out |= mem.in[e.To.ID]
	}
	return out
}

// before are those that may be read before instruction k, given those behind.
func (b *Block) before(k int, live x86.Regs) x86.Regs {
	in := &b.Insns[k]
	switch {
	case in.Kind.IsCall():
		if c := b.CallOf(in); c != nil && c.Import != "" {
			return x86.AllRegs &^ (x86.R10.Set() | x86.R11.Set()) // the linkage table's
		}
		return x86.AllRegs
	case in.Kind != x86.Normal && !in.Kind.IsJump():
		return x86.AllRegs
	}
	return live&^(in.Def&^in.Use) | in.Use
}

// At appends, for each instruction of a block, the registers that may be read
// from it on.
func (l *Live) At(b *Block, list []x86.Regs) []x86.Regs {
	n := len(b.Insns)
	first := len(list)
	list = append(list, make([]x86.Regs, n)...)
	live := l.out[b.ID]
	for k := n - 1; k >= 0; k-- {
		live = b.before(k, live)
		list[first+k] = live
	}
	return list
}
