package goroutine

import (
	"encoding/binary"

	"github.com/skewlens/skewlens/profiler/internal/image"
)

// Frame is a function that was entered and not left, of a goroutine's stack.
type Frame struct {
	PC     uint64 // where it goes on; run-time
	SP     uint64 // what the stack pointer is then
	Called bool   // it goes on behind a call, else at an instruction that is yet to come
}

// Stack is a piece of a goroutine's stack.
type Stack struct {
	At    uint64
	Words []byte
	Home  func(ret uint64) uint64 // the original of a return address, which may be one in moved code
}

func (s *Stack) word(addr uint64) (uint64, bool) {
	if o := addr - s.At; o < uint64(len(s.Words)) && o+8 <= uint64(len(s.Words)) {
		return binary.LittleEndian.Uint64(s.Words[o:]), true
	}
	return 0, false
}

// Walk goes over a stack from a program counter and a stack pointer outwards, as far
// as Go's table knows the functions. bias is the program's run-time less its
// link-time addresses. injected tells of a function that it came in between two
// instructions of the one that seems to have called it.
func Walk(t *image.GoTable, s *Stack, pc, sp, bias uint64, called bool, injected func(link uint64) bool) (frames []Frame) {
	const deepest = 1 << 20
	for range deepest {
		frames = append(frames, Frame{pc, sp, called})
		size, top, ok := t.Frame(pc - bias)
		if !ok || top {
			return frames
		}
		called = !injected(pc - bias)
		sp += uint64(size)
		if pc, ok = s.word(sp); !ok || pc == 0 {
			return frames
		}
		pc = s.Home(pc)
		sp += 8
	}
	return frames
}
