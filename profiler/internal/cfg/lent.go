package cfg

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// A function may lend others what lies in its frame: a barrier that is a local variable
// of main, and by reference of what threads run. Where that was inlined into main too,
// it waits for something in its own frame. That shows in a loop that is left by a
// condition on nothing that the loop changes. Unoptimised code, which has a frame pointer,
// keeps everything there, and calls what an optimiser would have inlined.

// lent reports whether the flags at the end of a block compare what lies in the frame,
// and what the loop does not write, with something that does not change in it either.
func (s *study) lent(l *Loop, b *Block) (is bool) {
	if s.framed {
		return false
	}
	var held x86.Regs // what was loaded from there
	changed := x86.Regs(0)
	for _, b := range l.Blocks {
		changed |= writtenBy(b.Insns)
	}
	for i := range b.Insns {
		in := &b.Insns[i]
		from := in.HasMem && in.Loads && !in.Stores && s.own(in) && !s.writes(l, in.Mem)
		operands := in.Use &^ (in.Mem.Base.Set() | in.Mem.Index.Set())
		same := operands&changed&^held == 0 && (!in.HasMem || from)
		switch {
		case isCompare(in):
			is = same && (from || operands&held != 0)
		case in.FlagsKilled != 0:
			is = false
		}
		if from && isLoad(in) {
			held |= in.Def
		} else {
			held &^= in.Def
		}
	}
	return is
}

// writes reports whether a loop writes to a place of the frame.
func (s *study) writes(l *Loop, to x86.Mem) bool {
	return slices.ContainsFunc(l.Blocks, func(b *Block) bool {
		return slices.ContainsFunc(b.Insns, func(in x86.Insn) bool { return in.HasMem && in.Stores && in.Mem == to })
	})
}

// isCompare: cmp or test.
func isCompare(in *x86.Insn) bool {
	if in.Vex != 0 || in.Map != 0 {
		return false
	}
	switch op := in.Opcode; {
	case op >= 0x38 && op <= 0x3d, op&^1 == 0x84, op&^1 == 0xa8:
		return true
	case op&^3 == 0x80:
		return in.Ext() == 7
	case op&^1 == 0xf6:
		return in.Ext() == 0
	}
	return false
}

// isLoad: mov, movzx or movsx from memory.
func isLoad(in *x86.Insn) bool {
	if in.Vex != 0 || !in.HasMem {
		return false
	}
	return in.Map == 0 && (in.Opcode&^1 == 0x8a || in.Opcode == 0x63) || in.Map == 1 && (in.Opcode&^1 == 0xb6 || in.Opcode&^1 == 0xbe)
}
