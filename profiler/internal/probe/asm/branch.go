package asm

import "github.com/skewlens/skewlens/profiler/internal/x86"

// Branches to labels of their own scope take two bytes where the label lies
// close behind, as at the end of a small loop, which then is not larger than
// it was. All others have 32-bit displacements.

const (
	opCall     = 0xe8 // rel32
	opJmp      = 0xe9 // rel32
	opJmpShort = 0xeb // rel8
	opJccShort = 0x70 // and the condition, rel8
	opJcc      = 0x80 // behind 0f, and the condition, rel32
)

// Jmp jumps to a label.
func (a *Assembler) Jmp(l Label) {
	if d, ok := a.back8(l); ok {
		a.Raw(opJmpShort, d)
		return
	}
	a.Raw(opJmp)
	a.relativeTo(l)
}

// JmpTo jumps to an address.
func (a *Assembler) JmpTo(addr uint64) {
	a.Raw(opJmp)
	a.relative(addr)
}

// Condition is one of the sixteen of jcc, by its encoding; x86.Insn.CC is one.
type Condition = byte

// The conditions of jnc, jne, js and jg.
const (
	NoCarry  Condition = 3
	NotEqual Condition = 5
	Negative Condition = 8
	Greater  Condition = 15
)

// Jcc jumps to a label on a condition.
func (a *Assembler) Jcc(cc Condition, l Label) {
	if d, ok := a.back8(l); ok {
		a.Raw(opJccShort|cc, d)
		return
	}
	a.Raw(0x0f, opJcc|cc)
	a.relativeTo(l)
}

// JccTo jumps to an address on a condition.
func (a *Assembler) JccTo(cc Condition, addr uint64) {
	a.Raw(0x0f, opJcc|cc)
	a.relative(addr)
}

// Call calls a label.
func (a *Assembler) Call(l Label) {
	a.Raw(opCall)
	a.relativeTo(l)
}

// CallTo calls an address.
func (a *Assembler) CallTo(addr uint64) {
	a.Raw(opCall)
	a.relative(addr)
}

// CallThrough calls the address that a slot holds: call *slot(%rip).
func (a *Assembler) CallThrough(slot uint64) {
	a.Raw(0xff, 2<<3|ripRelative)
	a.relative(slot)
}

// CallReg calls the address that a register holds, JmpReg jumps there.
func (a *Assembler) CallReg(r x86.Reg) { a.Raw(0x40|byte(r>>3), 0xff, 0xd0|byte(r&7)) }

// JmpReg: see CallReg.
func (a *Assembler) JmpReg(r x86.Reg) { a.Raw(0x40|byte(r>>3), 0xff, 0xe0|byte(r&7)) }

// JmpThrough jumps to the address that a slot holds: jmp *slot(%rip).
func (a *Assembler) JmpThrough(slot uint64) {
	a.Raw(0xff, 4<<3|ripRelative)
	a.relative(slot)
}

// Ret returns.
func (a *Assembler) Ret() { a.Raw(0xc3) }

// Int3 traps.
func (a *Assembler) Int3() { a.Raw(Breakpoint) }
