package cfg

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Space is memory that is used again from one function to the next: a large
// program has tens of thousands of functions and millions of instructions, and
// asking for all of their memory, and collecting it, takes longer than the
// analysis. What was made in a space is gone with the next function made in it.
type Space struct {
	insns  []x86.Insn
	index  []partIndex
	slots  []int32
	used   int  // of slots
	skips  bool // a handler may go on behind an instruction that only traps
	locks  bool // see BuildSilent
	work   []place
	called []uint64

	marks   []uint8
	blockOf []int32
	blocks  []Block
	refs    []*Block
	calls   []Call
	edges   []Edge
	ways    []*Edge
	preds   []*Edge
	counts  []int32
}

func (s *Space) reset() {
	s.insns, s.index, s.used, s.called = s.insns[:0], s.index[:0], 0, s.called[:0]
}

// addPart makes room for the instructions of a range.
func (s *Space) addPart(p *Program, r Range) {
	n := int(r.Hi - r.Lo)
	s.skips, s.locks = p.handles, p.silent
	if s.used+n > len(s.slots) {
		s.slots, s.used = make([]int32, max(2*len(s.slots), n)), 0 // parts that were made keep the old memory
	}
	slot := s.slots[s.used : s.used+n : s.used+n]
	s.used += n
	clear(slot)
	code := p.Image.Bytes(r.Lo)
	s.index = append(s.index, partIndex{r.Lo, code[:min(n+15, len(code))], slot})
}

// room is made for all instructions of a function at once: to let it grow takes three
// times as much, and there are functions of ten thousands.
func (s *Space) room(f *Func) {
	n := 0
	for b := f.starts; len(b) > 0; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	if n > cap(s.insns) {
		s.insns = make([]x86.Insn, 0, n+n/4)
	}
}

// decode decodes the instruction at an offset of a part, behind the others.
func (s *Space) decode(f *Func, x *partIndex, o int) (*x86.Insn, error) {
	code := x.code[min(o, len(x.code)):]
	s.insns = slices.Grow(s.insns, 1)
	s.insns = s.insns[:len(s.insns)+1]
	in := &s.insns[len(s.insns)-1]
	if err := x86.DecodeTo(in, code, x.lo+uint64(o)); err != nil {
		s.insns = s.insns[:len(s.insns)-1]
		return nil, err
	}
	breakpoint := in.Map == 0 && in.Opcode == 0xcc
	if n := in.Len(); in.Kind == x86.Stop && (breakpoint || s.skips) && len(code) > n && code[n] != 0xcc && f.In(in.End()) {
		in.Kind = x86.Normal // of the program's own, not padding: a handler goes on behind it
	}
	if n := in.Len(); s.locks && in.Kind == x86.Jcc && in.Target == in.End()+1 && len(code) > n && code[n] == 0xf0 {
		in.Target = in.End()
	}
	return in, nil
}

// of returns a slice of n zeroed elements, in memory that is used again.
func of[T any](mem *[]T, n int) []T {
	if cap(*mem) < n {
		*mem = make([]T, n+n/2)
	}
	s := (*mem)[:n]
	clear(s)
	return s
}
