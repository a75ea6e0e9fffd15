package relocate

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/caches"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// What is accessed that no instruction of moved code says: by string instructions
// that repeat, and by libraries that are not counted. The code of these is moved too,
// if that can be, and its accesses are simulated like all others; but they count at
// the call that led there. So a call leaves its number in the thread's area:
//
//	counted code:  mov $number, %gs:caller; call memcpy
//	                                              │
//	library's copy:    each access, as that of nobody in particular
//	                                              │
//	hierarchy.c:       a miss: %gs:caller, and the next number if it is a write
//
// What a library calls back leaves its own calls' numbers there, and who comes back
// from it into the library does not put the first one back.

// ranging says which instructions access what they do not say.
type ranging struct {
	image     *image.Image
	libraries bool // what libraries access is simulated where it is done; else as ranges, where they are known
	library   bool // the code is such a library's
	stubs     []*image.Section
}

func newRanging(im *image.Image, opt *probe.Options) ranging {
	r := ranging{image: im, libraries: opt.Caches.Libraries, library: opt.Library}
	if r.libraries || r.library {
		for i := range im.Sections {
			if s := &im.Sections[i]; s.Exec && (strings.HasPrefix(s.Name, ".plt") || s.Name == ".iplt") {
				r.stubs = append(r.stubs, s)
			}
		}
	}
	return r
}

// simulated appends the accesses of an instruction that are: all whose address
// is known before it as a sum of registers, but those of string instructions that
// repeat; with those of the stub that a call or jump goes through to a library.
func (r *ranging) simulated(list []x86.Access, in *x86.Insn) []x86.Access {
	first := len(list)
	list, _ = in.Accesses(list)
	out := list[:first]
	for _, a := range list[first:] {
		if m := &a.Mem; !a.Repeats && !a.Absolute && !a.AL && !m.Addr32 && !m.Vector && m.Segment != 0x65 && a.Size < 256 {
			out = append(out, a)
		}
	}
	if slot := r.slotOf(in); slot != 0 {
		out = append(out, slotAccess(slot))
	}
	return out
}

func slotAccess(slot uint64) x86.Access {
	return x86.Access{Mem: x86.Mem{Base: x86.None, Index: x86.None, RIP: true}, Target: slot, Size: 8, Load: true}
}

// slotOf is where the stub reads how to go on that an instruction certainly goes to;
// 0: it goes to none.
func (r *ranging) slotOf(in *x86.Insn) uint64 {
	if in.Kind != x86.Call && in.Kind != x86.Jmp {
		return 0
	}
	for _, s := range r.stubs {
		if in.Target-s.Addr >= s.Size {
			continue
		}
		if stub, ok := image.ReadStub(s.Data[in.Target-s.Addr:], in.Target); ok {
			return stub.Slot
		}
	}
	return 0
}

// numbers is how far so many accesses of this code lead from one number to another.
func (r *ranging) numbers(n int32) int32 {
	if r.library {
		return 0
	}
	return n
}

// ranges are what a call, or a string instruction that repeats, accesses: the
// number of the first access, the read where there are two.
type ranges struct {
	at    int // instruction of the block
	op    int32
	shape caches.Shape
}

// ahead adds to the accesses of a call, instruction k of a block, what those behind it
// read where it returns to: calls that run where they always did, since there is no
// room between them for a way into the copy. Only what stubs read has to be told:
// return addresses go where the first one went.
func (s *accesses) ahead(b *cfg.Block, at int) {
	for k := at; s.plan != nil; {
		c := b.CallOf(&b.Insns[k])
		if c == nil || c.NoReturn || s.plan.is(c, fromCopy) {
			return
		}
		if k++; k == len(b.Insns) {
			if b, k = s.graph.BlockAt(c.Insn.End()), 0; b == nil {
				return
			}
		}
		next := b.CallOf(&b.Insns[k])
		if next == nil || !s.plan.is(next, afterCall|afterArrival) {
			return
		}
		if slot := s.slotOf(next.Insn); slot != 0 && !s.erased[next.Insn.Addr] {
			s.groups = append(s.groups, group{at: at, first: at, list: []access{{Access: slotAccess(slot), op: s.last(b, k)}}})
		}
	}
}

// last is the number of the last access of a block's instruction that is one by itself.
func (s *accesses) last(b *cfg.Block, k int) (op int32) {
	op = s.op[b.ID]
	for i := range k {
		s.memory = s.simulated(s.memory[:0], &b.Insns[i])
		_, n := s.shapeOf(b, i)
		op += s.numbers(int32(len(s.memory)) + n)
	}
	s.memory = s.simulated(s.memory[:0], &b.Insns[k])
	return op + s.numbers(int32(len(s.memory))-1)
}

// addRanges notes them; nobody's if they are erased.
func (s *accesses) addRanges(r ranges, erased bool) {
	switch {
	case erased && r.shape != caches.Call:
		return
	case erased:
		r.op = erasedCall
	}
	s.ranges = append(s.ranges, r)
}

const erasedCall = caches.Erased - 1<<32

// shapeOf says what ranges instruction k of a block accesses, and in how many ways:
// string instructions that repeat, and calls of libraries: of those of the C library
// of which that is known. 0: it does not.
func (r *ranging) shapeOf(b *cfg.Block, k int) (shape caches.Shape, n int32) {
	in := &b.Insns[k]
	switch {
	case r.libraries && r.leads(b, k):
		return caches.Call, 2
	case in.Kind.IsCall() && !r.libraries && !r.library:
		if c := b.CallOf(&b.Insns[k]); c != nil {
			x := rangesOf[c.Import]
			return x.shape, x.n
		}
	case in.IsString() && in.Rep != 0 && !in.Mem.Addr32 && in.Mem.Segment == 0:
		size := caches.Shape(0)
		switch {
		case in.Opcode&1 == 0:
		case in.Rex&8 != 0:
			size = 3
		case in.Opsize:
			size = 1
		default:
			size = 2
		}
		switch in.Opcode &^ 1 {
		case 0xa4:
			return caches.Movs | size<<caches.ElementShift, 2
		case 0xaa:
			return caches.Stos | size<<caches.ElementShift, 1
		}
	}
	return 0, 0
}

// leads reports whether control may go to a library from instruction k of a block: to
// one that is named, or by a pointer.
func (r *ranging) leads(b *cfg.Block, k int) bool {
	in := &b.Insns[k]
	switch {
	case in.Kind.IsCall():
		c := b.CallOf(&b.Insns[k])
		return c != nil && c.Callee == nil
	case in.Kind == x86.JmpInd:
		return len(b.Succ) == 1 && b.Succ[0].To == nil
	}
	return in.Kind.IsJump() && r.image.PLT[in.Target] != ""
}

var rangesOf = map[string]struct {
	shape caches.Shape
	n     int32
}{
	"memset": {caches.Set, 1}, "__memset_chk": {caches.Set, 1}, "explicit_bzero": {caches.Zero, 1}, "bzero": {caches.Zero, 1},
	"memcpy": {caches.Copy, 2}, "memmove": {caches.Copy, 2}, "mempcpy": {caches.Copy, 2}, "__memcpy_chk": {caches.Copy, 2}, "__memmove_chk": {caches.Copy, 2},
}

// simulateRanges emits, before instruction k, that ranges are accessed, or who calls.
func (m *emitter) simulateRanges(k int) {
	for _, r := range m.accesses.ranges {
		switch {
		case r.at != k:
		case r.shape == caches.Call:
			m.detours(func(*int) {
				below := uint32(threadarea.CallerBelow)
				m.MovGS32(-below, uint32(r.op))
				m.names(toFront, 8)
			})
		default:
			m.detours(func(*int) {
				m.keepingFlags(m.accesses.flags[k] != 0, func() {
					m.LeaRSP(-redZone)
					m.Push(x86.RAX)
					m.CallTo(m.cache + uint64(cachesAt) + caches.RangesEntry)
					m.TestEAX(uint32(r.op)<<8 | uint32(r.shape))
					m.LeaRSP(redZone)
				})
			})
		}
	}
}
