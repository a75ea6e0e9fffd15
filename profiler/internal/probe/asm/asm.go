// Package asm writes x86-64 machine code that reads as text: one method for
// each instruction, called by its mnemonic, with operands in Intel's order
// (destination first). It is the one place where encodings are.
//
//	mnemonics, labels ──Assembler──▶ bytes ──▶ the copy of a program (relocate)
//	from, to          ──Jump, ShortJump──▶ bytes written over old code (relocate, livepatch)
//
// Only what is emitted has a method. The tests read all of it back by package
// x86, and by objdump, and run it on the processor.
package asm

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Assembler appends machine code to a buffer that will lie at a fixed address.
// The first error is kept and stops nothing: look at Err when all is written.
type Assembler struct {
	base uint64
	buf  []byte
	err  error

	offset  []int32 // of each label; −1: not bound yet
	scope   Label   // the first label of the open scope
	scoped  bool    // there was a scope
	pending []jump  // displacements to labels of the open scope,
	outer   []jump  // and to those of none
}

// New returns an assembler of code whose first byte will lie at base.
func New(base uint64) *Assembler { return &Assembler{base: base} }

// Restart begins anew at another base, in the same memory. What Bytes returned is gone.
func (a *Assembler) Restart(base uint64) {
	*a = Assembler{base: base, buf: a.buf[:0], offset: a.offset[:0], pending: a.pending[:0], outer: a.outer[:0]}
}

// Grow makes room for n more bytes.
func (a *Assembler) Grow(n int) { a.buf = slices.Grow(a.buf, n) }

// Bytes is the code so far. Displacements to labels are filled in by EndScope
// and Link.
func (a *Assembler) Bytes() []byte { return a.buf }

// Len is the number of bytes so far.
func (a *Assembler) Len() int { return len(a.buf) }

// PC is the address of the next byte.
func (a *Assembler) PC() uint64 { return a.base + uint64(len(a.buf)) }

// Err is the first thing that went wrong: a label that was never bound, an
// address that is more than 2 GB away.
func (a *Assembler) Err() error { return a.err }

// Fail notes an error, if it is the first.
func (a *Assembler) Fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

// Raw appends bytes that are code already.
func (a *Assembler) Raw(b ...byte) { a.buf = append(a.buf, b...) }

// Quad appends eight bytes of data.
func (a *Assembler) Quad(v uint64) { a.buf = binary.LittleEndian.AppendUint64(a.buf, v) }

// SetQuad writes eight bytes at an offset of what was appended.
func (a *Assembler) SetQuad(at int, v uint64) { binary.LittleEndian.PutUint64(a.buf[at:], v) }

// SetLong writes four.
func (a *Assembler) SetLong(at int, v uint32) { binary.LittleEndian.PutUint32(a.buf[at:], v) }

func (a *Assembler) imm32(v uint32) { a.buf = binary.LittleEndian.AppendUint32(a.buf, v) }

// relative appends the displacement, from the end of what is appended, to an address.
func (a *Assembler) relative(addr uint64) {
	d := a.displacement(addr, a.PC()+4)
	a.imm32(d)
}

// displacement is the way to an address from the end of an instruction.
func (a *Assembler) displacement(addr, end uint64) uint32 {
	d := int64(addr) - int64(end)
	if d != int64(int32(d)) {
		a.Fail("code cache at %#x is out of reach of %#x", a.base, addr)
	}
	return uint32(d)
}
