package asm

import "encoding/binary"

// What is written over code that exists: jumps from one address to another.

const (
	JumpLen      = 5 // bytes of a Jump
	ShortJumpLen = 2 // bytes of a ShortJump

	// Breakpoint is int3.
	Breakpoint = 0xcc
)

// Jump is a jump from an address to another, which must be within 2 GB.
func Jump(from, to uint64) (b [JumpLen]byte) {
	d := Relative(from+JumpLen, to)
	b[0] = opJmp
	copy(b[1:], d[:])
	return b
}

// ShortJump is a jump from an address to another, which must be no more than
// 127 bytes behind it, or 128 before.
func ShortJump(from, to uint64) [ShortJumpLen]byte {
	return [ShortJumpLen]byte{opJmpShort, byte(to - (from + ShortJumpLen))}
}

// Relative is the displacement to an address that ends an instruction.
func Relative(end, to uint64) (b [4]byte) {
	binary.LittleEndian.PutUint32(b[:], uint32(to-end))
	return b
}

// JumpTarget is where a Jump or a ShortJump at an address leads, and its
// length; 0: the bytes are none.
func JumpTarget(b []byte, from uint64) (to uint64, length int) {
	switch {
	case len(b) >= ShortJumpLen && b[0] == opJmpShort:
		return from + ShortJumpLen + uint64(int8(b[1])), ShortJumpLen
	case len(b) >= JumpLen && b[0] == opJmp:
		return from + JumpLen + uint64(int32(binary.LittleEndian.Uint32(b[1:]))), JumpLen
	}
	return 0, 0
}
