package unwind

import (
	"bytes"
	"encoding/binary"
)

// Tables say nothing of a handler that calls functions without any, those of musl say. But
// below what the thread goes on with when the handler comes back, the kernel has put the
// address of the code that asks for that, which is the same wherever it stands:
//
//	mov  $15, %rax (rt_sigreturn)
//	syscall
var restorers = [][]byte{{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, {0xb8, 15, 0, 0, 0, 0x0f, 0x05}}

// Signalled are the registers that a thread goes on with when the handler of a signal comes
// back that it is in, from its registers there; false: no handler is found. apart: it is on
// the stack that the thread has for handlers alone.
func (u *Unwinder) Signalled(r Regs) (under Regs, apart, ok bool) {
	const (
		page, far = 4096, 64 << 10
		context   = 8 + 40   // from the address to the first of the registers, as in ucontext_t,
		size      = 8*18 + 8 // and to the segments behind them
		segment   = 0x33     // of 64-bit code
	)
	var stack []byte
	for at := r[regSP]; len(stack) < far; {
		b := make([]byte, page-at%page)
		if u.mem.Read(b, at) != nil {
			break
		}
		stack, at = append(stack, b...), at+uint64(len(b))
	}
	for i := 0; i+context+size <= len(stack); i += 8 {
		word := func(k int) uint64 { return binary.LittleEndian.Uint64(stack[i+k:]) }
		if uint16(word(context+8*18)) != segment || !u.restores(word(0)) {
			continue
		}
		for k, reg := range []int{8, 9, 10, 11, 12, 13, 14, 15, 5, 4, regBP, 3, 1, 0, 2, regSP, regPC} {
			under[reg] = word(context + 8*k)
		}
		if u.Original != nil {
			under[regPC] = u.Original(under[regPC], true)
		}
		base, length := word(24), word(40) // uc_stack
		return under, r[regSP]-base < length, true
	}
	return under, false, false
}

// restores reports whether code at an address asks the kernel to go on where a signal came.
func (u *Unwinder) restores(pc uint64) bool {
	for _, code := range restorers {
		have := make([]byte, len(code))
		if u.mem.Read(have, pc) == nil && bytes.Equal(have, code) {
			return true
		}
	}
	return false
}
