package cfg

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// extent is how many entries a table has: each of n is one, or where it says at most,
// the first ones are; 0: that is not known.
type extent struct {
	n      int
	atMost bool
}

// sure: each entry must be understood, else the table is not one.
func (e extent) sure() bool { return e.n > 0 && !e.atMost }

// bound returns how many entries the index can select: the immediate of an
// unsigned comparison that guards the load, of the index, of a register it was
// copied from, or of the memory that it was read from. Where nothing is compared
// since a few bits are left of the index, it is at most as many as these can say.
func (d *decoder) bound(order []int32, pos int, idx x86.Reg) extent {
	x := index{regs: idx.Set()}
	for i := pos - 1; i >= 0 && i > pos-backward; i-- {
		in := &d.s.insns[order[i]]
		switch {
		case in.Kind == x86.Jcc && (in.CC == above || in.CC == notBelow):
			x.guard = in
			continue
		case in.Kind != x86.Normal:
			return extent{}
		}
		if in.Vex != 0 {
			continue
		}
		if x.guard != nil && compares(in, x.regs, x.slot) {
			n := entries(in)
			if x.guard.CC == notBelow && n > 0 {
				n--
			}
			return extent{n: n}
		}
		if n := left(in, x.regs); n > 0 && !d.comesBetween(in.Addr, d.s.insns[order[pos]].Addr) {
			return extent{n, true}
		}
		if x.before(in); x.regs == 0 && x.slot == nil {
			return extent{}
		}
	}
	return extent{}
}

// left is how many values an instruction leaves that one of the registers can have: and
// $3, or shr $30; 0: it is none such. A part of a register says nothing of the rest.
func left(in *x86.Insn, regs x86.Regs) int {
	if in.Map != 0 || !in.HasImm || in.Opsize || in.Def&regs == 0 {
		return 0
	}
	switch in.Opcode {
	case 0x25: // and, of rax
	case 0x81, 0x83:
		if in.HasMem || in.Ext() != 4 {
			return 0
		}
	case 0xc1: // shr
		bits := width(in)*8 - int(in.Imm&63)
		if in.HasMem || in.Ext() != 5 || bits < 1 || bits > 16 {
			return 0
		}
		return 1 << bits
	default:
		return 0
	}
	return entries(in)
}

// comesBetween reports whether control comes in from elsewhere behind the first instruction,
// up to the last one. Code that comes to light later may do that, too.
func (d *decoder) comesBetween(first, last uint64) bool {
	between := func(a uint64) bool { return a > first && a <= last }
	for i := range d.s.insns {
		if in := &d.s.insns[i]; in.Kind.IsJump() && between(in.Target) {
			return true
		}
	}
	for _, t := range d.f.tables {
		if slices.ContainsFunc(t, between) {
			return true
		}
	}
	return slices.ContainsFunc(d.f.pads, between)
}

// index is where a table's index is, followed back from the load.
type index struct {
	regs  x86.Regs
	slot  *x86.Insn // which read it from memory
	guard *x86.Insn // a jump out of range whose comparison is yet to come
}

// before goes back over an instruction.
func (x *index) before(in *x86.Insn) {
	if in.FlagsKilled != 0 {
		x.guard = nil
	}
	if in.Stores || x.slot != nil && in.Def&(x.slot.Mem.Base.Set()|x.slot.Mem.Index.Set()) != 0 {
		x.slot = nil
	}
	dst, src, move := moved(in)
	switch {
	case move && in.HasMem && dst.Set() == x.regs:
		x.slot = in
	case move && !in.HasMem && dst.Set()&x.regs != 0:
		x.regs = x.regs&^dst.Set() | src.Set()
		return
	}
	x.regs &^= in.Def
}

// Conditions of jumps.
const (
	notBelow = 3
	above    = 7
)

// compares reports whether an instruction compares one of the registers, or
// what slot reads, with a constant.
func compares(in *x86.Insn, regs x86.Regs, slot *x86.Insn) bool {
	if in.Map != 0 || !in.HasImm {
		return false
	}
	switch in.Opcode {
	case 0x3c, 0x3d:
		return regs&x86.RAX.Set() != 0
	case 0x80, 0x81, 0x83:
		if in.Ext() != 7 {
			return false
		}
		if in.HasMem {
			return slot != nil && width(in) == width(slot) && (in.Mem == slot.Mem && !in.Mem.RIP || in.Mem.RIP && slot.Mem.RIP && in.RIPTarget == slot.RIPTarget)
		}
		return in.RM.Set()&regs != 0 && !(in.Opcode == 0x80 && in.Rex == 0 && in.RM >= 4) // ah, ch …
	}
	return false
}

// width is how many bytes a comparison with a constant or a move reads.
func width(in *x86.Insn) int {
	switch {
	case in.Map == 0 && in.Opcode == 0x80, in.Map == 1 && in.Opcode == 0xb6:
		return 1
	case in.Map == 1 || in.Opsize:
		return 2
	case in.Rex&8 != 0 && in.Opcode != 0x63:
		return 8
	}
	return 4
}

// entries is how many values are not above what is compared with; 0 when unsure.
func entries(in *x86.Insn) int {
	n := in.Imm
	if in.Opcode == 0x80 || in.Opcode == 0x3c {
		n = int64(uint8(n))
	}
	if n < 0 || n >= maxTable {
		return 0
	}
	return int(n) + 1
}

// moved returns what a move copies into which register; the source is memory
// where it has such an operand.
func moved(in *x86.Insn) (dst, src x86.Reg, ok bool) {
	switch {
	case !in.HasModRM:
	case in.Map == 0 && (in.Opcode == 0x8b || in.Opcode == 0x63), in.Map == 1 && (in.Opcode == 0xb6 || in.Opcode == 0xb7):
		return in.Reg, in.RM, true
	case in.Map == 0 && in.Opcode == 0x89 && !in.HasMem:
		return in.RM, in.Reg, true
	}
	return 0, 0, false
}
