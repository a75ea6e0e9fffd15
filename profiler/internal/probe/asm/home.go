package asm

import "encoding/binary"

// HomeLen is the length of what Home appends.
const HomeLen = 7

var home = [3]byte{0x0f, 0x1f, 0x80} // a no-op with a displacement, which nobody uses

// Home appends a no-op that says where the original of what follows stands.
func (a *Assembler) Home(addr uint64) {
	d := a.displacement(addr, a.PC())
	a.Raw(home[:]...)
	a.imm32(d)
}

// HomeOf is what a no-op of Home's at an address says.
func HomeOf(code []byte, at uint64) (addr uint64, ok bool) {
	if len(code) < HomeLen || [3]byte(code) != home {
		return 0, false
	}
	return at + uint64(int32(binary.LittleEndian.Uint32(code[len(home):]))), true
}
