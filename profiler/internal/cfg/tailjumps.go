package cfg

import (
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// checkTailJumps: a jump through a pointer whose targets are unknown is a tail
// call only where the stack is back at the height it had at the entry. Any
// other one is a switch that was not understood, and following the original
// code from there would silently lose counts.
//
// A function whose labels' addresses are taken may jump to them through a
// pointer at the height of its entry, if it has no frame. Where a frame is taken
// down right before the jump, nothing in the function is meant.
func (p *Program) checkTailJumps(f *Func, s *Space) {
	g := p.Blocks(f, s)
	if len(p.labelsOf(g)) > 0 {
		for _, b := range g.Blocks {
			if last := b.Last(); last.Kind == x86.JmpInd && f.tables[last.Addr] == nil && !restores(b) {
				f.Skip = fmt.Sprintf("jump at %#x may go to labels whose address is taken", last.Addr)
				return
			}
		}
	}
	height := g.heights()
	for _, b := range g.Blocks {
		if last := b.Last(); last.Kind == x86.JmpInd && f.tables[last.Addr] == nil && (height[b] != 0 || addedUp(b)) {
			f.Skip = fmt.Sprintf("jump at %#x with unknown targets", last.Addr)
			return
		}
	}
}

// addedUp: an entry of a table was added to where a block's jump goes, as it is in the
// large model: a switch.
func addedUp(b *Block) bool {
	last := b.Last()
	for i := len(b.Insns) - 2; i >= 0 && !last.HasMem; i-- {
		if in := &b.Insns[i]; in.Def&last.RM.Set() != 0 {
			return in.Vex == 0 && in.Map == 0 && in.Opcode == 3 && in.HasMem && in.Mem.Index != x86.None
		}
	}
	return false
}

// heights is how far RSP is below its value at the entry where each block that can be
// reached ends, in bytes.
func (g *Graph) heights() map[*Block]int {
	begin, end := map[*Block]int{g.Entry: 0}, map[*Block]int{}
	work := []*Block{g.Entry}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		h := begin[b]
		for i := range b.Insns {
			var known bool
			if h, known = stackHeight(&b.Insns[i], h); !known {
				h = 1 << 20 // dynamic stack: no tail call from here on, unless leave restores it
			}
		}
		end[b] = h
		for _, e := range b.Succ {
			if e.To == nil {
				continue
			}
			if _, ok := begin[e.To]; !ok {
				begin[e.To] = h
				work = append(work, e.To)
			}
		}
	}
	return end
}

// restores reports whether a block pops a register for its caller, or takes the
// frame down, which is done where the function ends only.
func restores(b *Block) bool {
	for i := range b.Insns {
		in := &b.Insns[i]
		if in.Map != 0 || in.Vex != 0 {
			continue
		}
		pops := in.Opcode >= 0x58 && in.Opcode < 0x60 && in.Def&calleeSaved != 0
		after, _ := stackHeight(in, 1<<20)
		if pops || after < 1<<20 && in.Def&x86.RSP.Set() != 0 && in.HasModRM || in.Opcode == 0xc9 {
			return true
		}
	}
	return false
}

// stackHeight is the distance of RSP from its value at entry behind an
// instruction, in bytes; known is false when RSP becomes something else.
func stackHeight(in *x86.Insn, h int) (after int, known bool) {
	if in.Vex != 0 || in.Map != 0 {
		return h, true
	}
	arith := (in.Opcode == 0x83 || in.Opcode == 0x81) && !in.HasMem && in.RM == x86.RSP
	n, adds := in.Adds()
	switch {
	case in.Opcode >= 0x50 && in.Opcode < 0x58, in.Opcode == 0x68, in.Opcode == 0x6a, in.Opcode == 0x9c, in.Opcode == 0xff && in.HasModRM && in.Ext() == 6:
		return h + 8, true
	case in.Opcode == 0x5c && in.Rex&1 == 0: // pop %rsp
		return h, false
	case in.Opcode >= 0x58 && in.Opcode < 0x60, in.Opcode == 0x8f, in.Opcode == 0x9d:
		return h - 8, true
	case arith && adds:
		return h - int(n), true
	case arith && in.Ext() == 4: // and $-16,%rsp
		return h, false
	case in.Opcode == 0xc9: // leave: back to the frame of push %rbp; mov %rsp,%rbp
		return 0, true
	case in.Opcode == 0x8d && in.Reg == x86.RSP:
		switch {
		case in.Mem.Base == x86.RSP && in.Mem.Index == x86.None:
			return h - int(in.Mem.Disp), true
		case in.Mem.Base == x86.RBP && in.Mem.Index == x86.None: // the same frame
			return 8 - int(in.Mem.Disp), true
		}
		return h, false
	case in.Def&x86.RSP.Set() != 0 && in.HasModRM && (in.Opcode == 0x89 || in.Opcode == 0x8b || in.Opcode == 0x29 || in.Opcode == 0x2b):
		return h, false
	}
	return h, true
}
