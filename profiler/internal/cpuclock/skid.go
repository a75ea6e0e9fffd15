package cpuclock

import (
	"debug/elf"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// An interrupt comes when the oldest instruction in the processor is done, and shows the
// one after it. Where threads take a cache line from each other, that one is what nearly all
// samples show, often of another line than the access which took so long: the loop's own
// behind the counter's. So a sample behind an access to memory is the access's.

// span is where a function's code is, in a file's own terms.
type span struct{ lo, hi uint64 }

// mostCode is the size of the largest function that is decoded for a sample.
const mostCode = 4 << 20

// took is the instruction that took long if a sample shows the one at an address: the
// address itself where that cannot be told.
func (m *module) took(at uint64) uint64 {
	i, exact := slices.BinarySearchFunc(m.functions, at, func(s span, at uint64) int {
		switch {
		case s.hi <= at:
			return -1
		case s.lo > at:
			return 1
		}
		return 0
	})
	if !exact {
		return at
	}
	s := m.functions[i]
	behind, ok := m.behind[s.lo]
	if !ok {
		behind = accessesBefore(m.code(s), s.lo)
		m.behind[s.lo] = behind
	}
	if before, ok := behind[at]; ok {
		return before
	}
	return at
}

// code reads a function; nil where that fails.
func (m *module) code(s span) []byte {
	for _, p := range m.loads {
		if p.Vaddr <= s.lo && s.hi <= p.Vaddr+p.Filesz && s.hi-s.lo <= mostCode {
			b := make([]byte, s.hi-s.lo)
			if _, err := m.file.ReadAt(b, int64(p.Off+s.lo-p.Vaddr)); err == nil {
				return b
			}
		}
	}
	return nil
}

// functions are those of a file's symbols, in order. Where two overlap, whose instructions
// are whose is not known, and neither counts.
func functions(f *elf.File) (all []span) {
	symbols, _ := f.Symbols() // without them samples stay where they are
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && s.Value+s.Size > s.Value {
			all = append(all, span{s.Value, s.Value + s.Size})
		}
	}
	slices.SortFunc(all, func(a, b span) int {
		switch {
		case a.lo < b.lo, a.lo == b.lo && a.hi < b.hi:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	all = slices.Compact(all) // a function with two names is one
	var apart []span
	end := uint64(0) // of those before
	for i, s := range all {
		if s.lo >= end && (i+1 == len(all) || s.hi <= all[i+1].lo) {
			apart = append(apart, s)
		}
		end = max(end, s.hi)
	}
	return apart
}

// accessesBefore has, of the instructions of a function that are reached only from the one
// before them, those where that one accesses memory, with its address. Nothing is known of
// code that cannot be decoded to its end, or jumps by a table: where jumps in it go may be missing.
func accessesBefore(code []byte, base uint64) map[uint64]uint64 {
	behind, targets := map[uint64]uint64{}, []uint64{}
	var in x86.Insn
	for at := 0; at < len(code); at += in.Len() {
		if x86.DecodeTo(&in, code[at:], base+uint64(at)) != nil {
			return nil
		}
		if in.Kind == x86.JmpInd {
			return nil
		}
		if in.Kind.IsJump() {
			targets = append(targets, in.Target)
		}
		if in.Kind == x86.Normal && (in.Loads || in.Stores) {
			behind[in.End()] = in.Addr
		}
	}
	for _, t := range targets {
		delete(behind, t)
	}
	return behind
}
