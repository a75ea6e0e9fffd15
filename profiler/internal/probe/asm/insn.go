package asm

import "github.com/skewlens/skewlens/profiler/internal/x86"

// Of ModRM and SIB bytes.
const (
	ripRelative = 5    // ModRM with mod 0: disp32 from the instruction's end
	withSIB     = 4    // ModRM.rm: a SIB byte follows
	sibAbsolute = 0x25 // SIB with mod 0: no base, no index, disp32
	sibRSP      = 0x24 // SIB: base rsp, no index
)

// rexW is the REX prefix of a 64-bit instruction with a register in ModRM.reg
// and one in ModRM.rm, or in the opcode.
func rexW(reg, rm x86.Reg) byte { return 0x48 | byte(reg>>3)<<2 | byte(rm>>3) }

// gs appends an instruction on 64 bits at an offset of the GS segment; reg is
// its register, or its opcode's extension.
func (a *Assembler) gs(op byte, reg x86.Reg, off uint32) {
	a.Raw(0x65, rexW(reg, 0), op, byte(reg&7)<<3|withSIB, sibAbsolute)
	a.imm32(off)
}

// IncGS is incq %gs:off. It changes all flags but CF. The offset is the last
// four bytes.
func (a *Assembler) IncGS(off uint32) { a.gs(0xff, 0, off) }

// AddGS is add %reg,%gs:off.
func (a *Assembler) AddGS(off uint32, reg x86.Reg) { a.gs(0x01, reg, off) }

// SubGS is sub %reg,%gs:off.
func (a *Assembler) SubGS(off uint32, reg x86.Reg) { a.gs(0x29, reg, off) }

// CmpGS is cmp %reg,%gs:off. The offset is the last four bytes.
func (a *Assembler) CmpGS(off uint32, reg x86.Reg) { a.gs(0x39, reg, off) }

// CmpGS32 is cmpl $v,%gs:off. The offset is the four bytes before the last.
func (a *Assembler) CmpGS32(off uint32, v int8) { a.gs32(0x83, 7, off, byte(v)) }

// CmpGS8 is cmpb $v,%gs:off. The offset is the four bytes before the last.
func (a *Assembler) CmpGS8(off uint32, v int8) { a.gs32(0x80, 7, off, byte(v)) }

// DecGS32 is decl %gs:off. The offset is the last four bytes.
func (a *Assembler) DecGS32(off uint32) { a.gs32(0xff, 1, off) }

// AdcGS32 is adcl $v,%gs:off. The offset is the four bytes before the last.
func (a *Assembler) AdcGS32(off uint32, v int8) { a.gs32(0x83, 2, off, byte(v)) }

// MovGS32 is movl $v,%gs:off. The offset is the four bytes before the last four.
func (a *Assembler) MovGS32(off, v uint32) {
	a.gs32(0xc7, 0, off)
	a.imm32(v)
}

// LoadGS32 is mov %gs:off,%reg, and StoreGS32 the other way, of 32 bits; reg is
// none of r8 to r15. The offset is the last four bytes.
func (a *Assembler) LoadGS32(reg x86.Reg, off uint32) { a.gs32(0x8b, reg, off) }

// StoreGS32: see LoadGS32.
func (a *Assembler) StoreGS32(off uint32, reg x86.Reg) { a.gs32(0x89, reg, off) }

// LoadGS is mov %gs:off,%reg. The offset is the last four bytes.
func (a *Assembler) LoadGS(reg x86.Reg, off uint32) { a.gs(0x8b, reg, off) }

// PushGS is pushq %gs:off. The offset is the last four bytes.
func (a *Assembler) PushGS(off uint32) { a.gs(0xff, 6, off) }

// gs32 is gs on 32 bits, or fewer.
func (a *Assembler) gs32(op byte, ext x86.Reg, off uint32, imm ...byte) {
	a.Raw(0x65, op, byte(ext)<<3|withSIB, sibAbsolute)
	a.imm32(off)
	a.Raw(imm...)
}

// gsAt appends an instruction at an offset of the GS segment from a base
// register, which is not rsp.
func (a *Assembler) gsAt(rex, op byte, reg, base x86.Reg, off uint32) {
	const mod32 = 2 << 6
	a.Raw(0x65)
	if rex |= byte(reg>>3)<<2 | byte(base>>3); rex != 0 {
		a.Raw(0x40 | rex)
	}
	a.Raw(op, mod32|byte(reg&7)<<3|byte(base&7))
	if base == x86.R12 {
		a.Raw(sibRSP)
	}
	a.imm32(off)
}

// CmpGSAt is cmp %reg,%gs:off(%base). The offset is the last four bytes.
func (a *Assembler) CmpGSAt(off uint32, base, reg x86.Reg) { a.gsAt(8, 0x39, reg, base, off) }

// XorGSAt is xor %reg,%gs:off(%base), and XorFromGSAt is xor %gs:off(%base),%reg, likewise.
func (a *Assembler) XorGSAt(off uint32, base, reg x86.Reg)     { a.gsAt(8, 0x31, reg, base, off) }
func (a *Assembler) XorFromGSAt(off uint32, base, reg x86.Reg) { a.gsAt(8, 0x33, reg, base, off) }

// CmpGSAt32 is cmpl $v,%gs:off(%base). The offset is the four bytes before the
// last four.
func (a *Assembler) CmpGSAt32(off uint32, base x86.Reg, v uint32) {
	a.gsAt(0, 0x81, 7, base, off)
	a.imm32(v)
}

// MovGSAt32 is mov %gs:off(%base),%r on 32 bits, zero-extended. The offset is
// the last four bytes.
func (a *Assembler) MovGSAt32(r x86.Reg, off uint32, base x86.Reg) { a.gsAt(0, 0x8b, r, base, off) }

// IncGSEighth is incq %gs:off(,%index,8); the index is none of r8 to r15. The
// offset is the last four bytes.
func (a *Assembler) IncGSEighth(off uint32, index x86.Reg) {
	const times8, noBase = 3 << 6, 5
	a.Raw(0x65, 0x48, 0xff, withSIB, times8|byte(index)<<3|noBase)
	a.imm32(off)
}

// ImulImm32 is imul $v,%from,%to on 32 bits.
func (a *Assembler) ImulImm32(to, from x86.Reg, v int32) {
	const register = 3 << 6
	if rex := byte(to>>3)<<2 | byte(from>>3); rex != 0 {
		a.Raw(0x40 | rex)
	}
	a.Raw(0x69, register|byte(to&7)<<3|byte(from&7))
	a.imm32(uint32(v))
}

// Imul is imul $v,%from,%to on 64 bits.
func (a *Assembler) Imul(to, from x86.Reg, v int32) {
	a.Raw(rexW(to, from), 0x69, 3<<6|byte(to&7)<<3|byte(from&7))
	a.imm32(uint32(v))
}

// Not is not %r.
func (a *Assembler) Not(r x86.Reg) { a.Raw(rexW(0, r), 0xf7, 3<<6|2<<3|byte(r&7)) }

// Cmp is cmp %y,%x: flags are those of x - y.
func (a *Assembler) Cmp(x, y x86.Reg) { a.Raw(rexW(y, x), 0x39, 3<<6|byte(y&7)<<3|byte(x&7)) }

// CmovBelow is cmovb %from,%to.
func (a *Assembler) CmovBelow(to, from x86.Reg) {
	a.Raw(rexW(to, from), 0x0f, 0x42, 3<<6|byte(to&7)<<3|byte(from&7))
}

// ShrImm8 is shr $n,%r on 32 bits; r is none of r8 to r15.
func (a *Assembler) ShrImm8(r x86.Reg, n byte) { a.Raw(0xc1, 3<<6|5<<3|byte(r), n) }

// AndImm32 is and $v,%r on 32 bits.
func (a *Assembler) AndImm32(r x86.Reg, v uint32) {
	if r >= x86.R8 {
		a.Raw(0x41)
	}
	a.Raw(0x81, 3<<6|4<<3|byte(r&7))
	a.imm32(v)
}

// AddImm32 is add $v,%r. The value is the last four bytes.
func (a *Assembler) AddImm32(r x86.Reg, v uint32) {
	a.Raw(rexW(0, r), 0x81, 3<<6|byte(r&7))
	a.imm32(v)
}

// Xchg exchanges two registers.
func (a *Assembler) Xchg(x, y x86.Reg) { a.Raw(rexW(x, y), 0x87, 3<<6|byte(x&7)<<3|byte(y&7)) }

// PushImm32 pushes 32 bits, sign-extended.
func (a *Assembler) PushImm32(v int32) {
	a.Raw(0x68)
	a.imm32(uint32(v))
}

// PushRSP pushes what lies at an offset from rsp, as it was before: pushq disp(%rsp).
func (a *Assembler) PushRSP(disp int32) {
	const disp32 = 2 << 6
	a.Raw(0xff, disp32|6<<3|withSIB, sibRSP)
	a.imm32(uint32(disp))
}

// Pushf pushes the flags.
func (a *Assembler) Pushf() { a.Raw(0x9c) }

// Popf takes them back.
func (a *Assembler) Popf() { a.Raw(0x9d) }

// Lfence waits until all that was loaded before is there.
func (a *Assembler) Lfence() { a.Raw(0x0f, 0xae, 0xe8) }

// Lea loads a register with the address of a memory operand; what rsp is now
// lies below where the operand means it. The operand has neither a segment nor
// an address of 32 bits.
func (a *Assembler) Lea(r x86.Reg, in *x86.Insn, below int32) {
	a.LeaMem(r, &in.Mem, in.RIPTarget, below)
}

// LeaMem is Lea of an operand, whose address is target if it is relative to rip.
// A segment is not looked at.
func (a *Assembler) LeaMem(r x86.Reg, m *x86.Mem, target uint64, below int32) {
	const mod8, mod32 = 1 << 6, 2 << 6
	if m.RIP {
		a.Raw(rexW(r, 0), 0x8d, byte(r&7)<<3|ripRelative)
		a.relative(target)
		return
	}
	disp := m.Disp
	if m.Base == x86.RSP {
		disp += below
	}
	if m.Base == x86.None && m.Index == x86.None { // absolute
		a.Raw(rexW(r, 0), 0x8d, byte(r&7)<<3|withSIB, sibAbsolute)
		a.imm32(uint32(disp))
		return
	}
	if m.Base != x86.None && m.Index == x86.None && disp == int32(int8(disp)) {
		a.Raw(rexW(r, m.Base), 0x8d, mod8|byte(r&7)<<3|byte(m.Base&7))
		if m.Base&7 == x86.RSP {
			a.Raw(sibRSP)
		}
		a.Raw(byte(disp))
		return
	}
	base, index, scale, mod, rex := byte(ripRelative), byte(withSIB), byte(0), byte(0), rexW(r, 0)
	if m.Base != x86.None {
		base, mod, rex = byte(m.Base&7), mod32, rex|byte(m.Base>>3)
	}
	if m.Index != x86.None {
		index, rex = byte(m.Index&7), rex|byte(m.Index>>3)<<1
		for s := m.Scale; s > 1; s >>= 1 {
			scale++
		}
	}
	a.Raw(rex, 0x8d, mod|byte(r&7)<<3|withSIB, scale<<6|index<<3|base)
	a.imm32(uint32(disp))
}

// LoadOffset is movslq way(m),%r: m has a base and an index.
func (a *Assembler) LoadOffset(r x86.Reg, m *x86.Mem, way uint64) {
	if int64(way) != int64(int32(way)) {
		a.Fail("a table is %#x from what names it", way)
	}
	at := *m
	at.Disp = int32(way)
	i := len(a.buf) + 1 // behind REX
	a.LeaMem(r, &at, 0, 0)
	a.buf[i] = 0x63
}

// LeaReg is lea disp(%from),%to; from is not rsp.
func (a *Assembler) LeaReg(to, from x86.Reg, disp int32) {
	a.LeaMem(to, &x86.Mem{Base: from, Index: x86.None, Disp: disp}, 0, 0)
}

// AddFS is add %fs:0,%r: where a thread's own data lie, by the System V ABI.
func (a *Assembler) AddFS(r x86.Reg) {
	a.Raw(0x64, rexW(r, 0), 0x03, byte(r&7)<<3|withSIB, sibAbsolute)
	a.imm32(0)
}

// Shr is shr $n,%r on 64 bits.
func (a *Assembler) Shr(r x86.Reg, n byte) { a.Raw(rexW(0, r), 0xc1, 3<<6|5<<3|byte(r&7), n) }

// TestEAX is test $v,%eax. The value is the last four bytes.
func (a *Assembler) TestEAX(v uint32) {
	a.Raw(0xa9)
	a.imm32(v)
}

// Load loads a register with what is at an address that another one holds, of 32
// bits, zero-extended, or of 64; neither is rsp, rbp or one of r8 to r15.
func (a *Assembler) Load(r, at x86.Reg, wide bool) {
	if wide {
		a.Raw(rexW(r, at))
	}
	a.Raw(0x8b, byte(r)<<3|byte(at))
}

// Mov copies a register: its lower 32 bits, zero-extended, or all 64.
func (a *Assembler) Mov(to, from x86.Reg, wide bool) {
	const registers = 3 << 6
	rex := rexW(from, to)
	if !wide {
		rex &^= 8
	}
	a.Raw(rex, 0x89, registers|byte(from&7)<<3|byte(to&7))
}

// Push pushes a register.
func (a *Assembler) Push(r x86.Reg) { a.withOpcodeReg(0x50, r) }

// Pop pops a register.
func (a *Assembler) Pop(r x86.Reg) { a.withOpcodeReg(0x58, r) }

// MovImm32 sets a register to 32 bits, zero-extended.
func (a *Assembler) MovImm32(r x86.Reg, v uint32) {
	a.withOpcodeReg(0xb8, r)
	a.imm32(v)
}

// MovImm64 sets a register.
func (a *Assembler) MovImm64(r x86.Reg, v uint64) {
	a.Raw(rexW(0, r), 0xb8|byte(r&7))
	a.Quad(v)
}

// Bt is bt %n,%r on 64 bits: CF is bit n modulo 64 of r.
func (a *Assembler) Bt(r, n x86.Reg) {
	const register = 3 << 6
	a.Raw(rexW(n, r), 0x0f, 0xa3, register|byte(n&7)<<3|byte(r&7))
}

// withOpcodeReg appends an opcode that has a register in its last three bits.
func (a *Assembler) withOpcodeReg(op byte, r x86.Reg) {
	if r >= x86.R8 {
		a.Raw(0x41)
	}
	a.Raw(op | byte(r&7))
}

// LeaRSP adds to rsp without touching the flags: lea disp(%rsp),%rsp.
func (a *Assembler) LeaRSP(disp int32) { a.atRSP(0x8d, x86.RSP, disp) }

// SaveRSP is mov %r,disp(%rsp).
func (a *Assembler) SaveRSP(disp int32, r x86.Reg) { a.atRSP(0x89, r, disp) }

// RestoreRSP is mov disp(%rsp),%r.
func (a *Assembler) RestoreRSP(r x86.Reg, disp int32) { a.atRSP(0x8b, r, disp) }

// CmpRSP is cmp %r,disp(%rsp).
func (a *Assembler) CmpRSP(disp int32, r x86.Reg) { a.atRSP(0x39, r, disp) }

func (a *Assembler) atRSP(op byte, r x86.Reg, disp int32) {
	const disp8, disp32 = 1 << 6, 2 << 6 // ModRM.mod
	modRM := byte(r&7)<<3 | withSIB
	a.Raw(rexW(r, 0), op)
	if disp == int32(int8(disp)) {
		a.Raw(disp8|modRM, sibRSP, byte(disp))
		return
	}
	a.Raw(disp32|modRM, sibRSP)
	a.imm32(uint32(disp))
}

// AddImm8 is add $v,%r, sign-extended.
func (a *Assembler) AddImm8(r x86.Reg, v int8) { a.imm8(0, r, v) }

// SubImm8 is sub $v,%r, sign-extended.
func (a *Assembler) SubImm8(r x86.Reg, v int8) { a.imm8(5, r, v) }

// Test is test %r,%r.
func (a *Assembler) Test(r x86.Reg) {
	a.Raw(0x48|byte(r>>3)<<2|byte(r>>3), 0x85, 3<<6|byte(r&7)<<3|byte(r&7))
}

// CmpEAX is cmp $v,%eax, sign-extended.
func (a *Assembler) CmpEAX(v int8) { a.Raw(0x83, 0xf8, byte(v)) }

func (a *Assembler) imm8(ext byte, r x86.Reg, v int8) {
	const register = 3 << 6
	a.Raw(rexW(0, r), 0x83, register|ext<<3|byte(r&7), byte(v))
}

// Lahf loads SF, ZF, AF, PF and CF into ah.
func (a *Assembler) Lahf() { a.Raw(0x9f) }

// Sahf sets these flags from ah.
func (a *Assembler) Sahf() { a.Raw(0x9e) }

// SetoAL sets al to OF.
func (a *Assembler) SetoAL() { a.Raw(0x0f, 0x90, 0xc0) }

// AddAL is add $v,%al.
func (a *Assembler) AddAL(v int8) { a.Raw(0x04, byte(v)) }

// nops are the no-ops of 1, 2, 3 … bytes that the manuals recommend, the last
// two with prefixes that do nothing either.
var nops = [...][]byte{
	{0x90},
	{0x66, 0x90},
	{0x0f, 0x1f, 0},
	{0x0f, 0x1f, 0x40, 0},
	{0x0f, 0x1f, 0x44, 0, 0},
	{0x66, 0x0f, 0x1f, 0x44, 0, 0},
	{0x0f, 0x1f, 0x80, 0, 0, 0, 0},
	{0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	{0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	{0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
}

// Nop appends no-ops, as few as fill n bytes.
func (a *Assembler) Nop(n int) {
	for n > 0 {
		k := min(n, len(nops))
		a.Raw(nops[k-1]...)
		n -= k
	}
}
