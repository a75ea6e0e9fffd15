package asm

import (
	"bytes"
	"encoding/binary"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Copy appends an instruction of the program at its new place: as it was, but
// for a RIP-relative operand, which goes on naming the same address. It is not
// for direct branches.
func (a *Assembler) Copy(in *x86.Insn) {
	at := len(a.buf)
	a.Raw(in.Bytes...)
	a.retarget(in, at+int(in.RIPOff))
}

// retarget lets a RIP-relative operand, whose displacement was just copied to
// pos, name the same address from the end of what was appended.
func (a *Assembler) retarget(in *x86.Insn, pos int) {
	if in.RIPOff > 0 {
		binary.LittleEndian.PutUint32(a.buf[pos:], a.displacement(in.RIPTarget, a.PC()))
	}
}

// CopyAt appends an instruction of the program whose operand is absolute or has an index
// alone, with another address in its stead: what it ends with.
func (a *Assembler) CopyAt(in *x86.Insn, addr uint64) {
	if addr != uint64(int32(addr)) || in.HasImm || !bytes.HasSuffix(in.Bytes, binary.LittleEndian.AppendUint32(nil, uint32(in.Mem.Disp))) {
		a.Fail("% x cannot name %#x", in.Bytes, addr)
	}
	a.Raw(in.Bytes[:in.Len()-4]...)
	a.imm32(uint32(addr))
}

// CopyLoop appends a jrcxz or loop of the program, which has only a short
// form: where it is taken it jumps over a jump, to one that leads to a label.
func (a *Assembler) CopyLoop(in *x86.Insn, l Label) {
	a.Raw(in.Bytes[:len(in.Bytes)-1]...)
	a.Raw(ShortJumpLen)
	a.Raw(opJmpShort, JumpLen)
	a.Raw(opJmp)
	a.relativeTo(l)
}

// LoadTarget loads a register with where an indirect call or jump (ff /2, /4)
// goes: mov with the same operand. It reports false, and appends nothing, for
// operands with fs, gs or a size of their own.
func (a *Assembler) LoadTarget(r x86.Reg, in *x86.Insn) bool {
	const reg = 7 << 3 // of ModRM
	i := 0
	for i < len(in.Bytes) && in.Bytes[i] != 0xff {
		switch in.Bytes[i] {
		case 0x64, 0x65, 0x66, 0x67:
			return false
		}
		i++
	}
	if i+1 >= len(in.Bytes) || !in.HasModRM {
		return false
	}
	at := len(a.buf)
	a.Raw(rexW(r, 0)|in.Rex&3, 0x8b, in.ModRM&^reg|byte(r&7)<<3) // X and B as they were
	a.Raw(in.Bytes[i+2:]...)
	a.retarget(in, at+3)
	return true
}
