package asm

import (
	"encoding/binary"
	"slices"
)

// Label is a place in the code, before or after it is known where that is.
// Labels are of the scope in which they were made, or of none, if that was
// before the first BeginScope.
type Label int32

// jump is a displacement of 32 bits, at pos, that leads to a label.
type jump struct {
	pos int32
	to  Label
}

// Labels makes n labels and returns the first; the others are those behind it.
func (a *Assembler) Labels(n int) Label {
	first := len(a.offset)
	a.offset = slices.Grow(a.offset, n)[:first+n]
	for i := first; i < len(a.offset); i++ {
		a.offset[i] = -1
	}
	return Label(first)
}

// Bind says that a label is here.
func (a *Assembler) Bind(l Label) { a.offset[l] = int32(len(a.buf)) }

// Bound reports whether it was said where a label is.
func (a *Assembler) Bound(l Label) bool { return a.offset[l] >= 0 }

// Addr is the address of a label, which must be bound.
func (a *Assembler) Addr(l Label) uint64 {
	if a.offset[l] < 0 {
		a.Fail("no code for label %d", l)
	}
	return a.base + uint64(a.offset[l])
}

// BeginScope begins a function: labels made from here on are its own. Those of
// the scope before are gone.
func (a *Assembler) BeginScope() {
	if !a.scoped {
		a.scope, a.scoped = Label(len(a.offset)), true
	}
	a.offset = a.offset[:a.scope]
}

// EndScope fills in the displacements to the labels of the scope.
func (a *Assembler) EndScope() {
	a.fill(a.pending)
	a.pending = a.pending[:0]
}

// Link fills in the displacements to labels of no scope.
func (a *Assembler) Link() {
	a.fill(a.outer)
	a.outer = nil
}

func (a *Assembler) fill(list []jump) {
	for _, x := range list {
		to := a.offset[x.to]
		if to < 0 {
			a.Fail("no code for label %d", x.to)
			return
		}
		binary.LittleEndian.PutUint32(a.buf[x.pos:], uint32(to-(x.pos+4)))
	}
}

// relativeTo appends the displacement to a label, to be filled in.
func (a *Assembler) relativeTo(l Label) {
	x := jump{int32(len(a.buf)), l}
	if !a.scoped || l < a.scope {
		a.outer = append(a.outer, x)
	} else {
		a.pending = append(a.pending, x)
	}
	a.imm32(0)
}

// back8 is the displacement of a jump of two bytes to a label of this scope,
// where that lies close behind.
func (a *Assembler) back8(l Label) (d byte, ok bool) {
	if l < a.scope || a.offset[l] < 0 {
		return 0, false
	}
	way := int(a.offset[l]) - (len(a.buf) + ShortJumpLen)
	return byte(int8(way)), way >= -128
}
