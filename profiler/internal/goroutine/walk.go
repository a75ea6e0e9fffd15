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
}

// Word is the one at an address, if it is of the piece.
func (s *Stack) Word(addr uint64) (uint64, bool) {
	if o := addr - s.At; o < uint64(len(s.Words)) && o+8 <= uint64(len(s.Words)) {
		return binary.LittleEndian.Uint64(s.Words[o:]), true
	}
	return 0, false
}

// Walker goes over stacks. What it has found out of a return address it keeps: programs
// have few, and the table has to be read for each.
type Walker struct {
	Table    *image.GoTable
	Bias     uint64                  // the program's run-time less its link-time addresses
	Home     func(ret uint64) uint64 // the original of a return address, which may be one in moved code
	Injected func(link uint64) bool  // a function came in between two instructions of the one that seems to have called it
	Whole    bool                    // the last walk came to the end of the stack
	known    map[uint64]step         // by return address
	frames   []Frame                 // of the last walk
	ways     *Way                    // all that have been come by
	many     int                     // steps of these
}

// step is how to come from a frame to the next one.
type step struct {
	pc       uint64 // where the frame goes on, of the original
	size     uint64
	last     bool // there is none, or it is not known
	top      bool // there is none
	injected bool
}

func (w *Walker) step(ret uint64) step {
	x, known := w.known[ret]
	if !known {
		x.pc = w.Home(ret)
		size, top, ok := w.Table.Frame(x.pc - w.Bias)
		x.size, x.last, x.top = uint64(size), top || !ok, top && ok
		x.injected = !x.last && w.Injected(x.pc-w.Bias)
		if w.known == nil || len(w.known) >= manySteps {
			w.known = map[uint64]step{}
		}
		w.known[ret] = x
	}
	return x
}

const (
	manySteps = 1 << 16 // signals come anywhere
	deepest   = 1 << 20
)

// Walk goes over a stack from a program counter and a stack pointer outwards, as far
// as Go's table knows the functions. The frames are there until the next one.
func (w *Walker) Walk(s *Stack, pc, sp uint64, called bool) []Frame {
	w.frames, w.Whole = w.frames[:0], false
	for range deepest {
		x := w.step(pc)
		w.frames = append(w.frames, Frame{x.pc, sp, called})
		if x.last {
			w.Whole = x.top
			break
		}
		called = !x.injected
		sp += x.size
		next, ok := s.Word(sp)
		if pc = next; !ok || pc == 0 {
			break
		}
		sp += 8
	}
	return w.frames
}
