package relocate

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
)

// Copied is an original instruction, and where in the cache its copy is.
type Copied struct {
	Addr       uint64
	Start, End int // offsets
}

// Copied returns the copied instructions of a function, by its index in Plans,
// sorted. Emission is deterministic: the function is emitted once more, at the
// same place, and listened to.
func (s *Spec) Copied(c *Code, function int) (list []Copied) {
	m, skip := s.again(c, function)
	m.copied = func(addr uint64, start int) { list = append(list, Copied{addr, start + skip, m.Len() + skip}) }
	m.function(s.plans[function])
	s.space, s.network = m.space, m.network
	return list
}

// Detour is code of ours that a thread leaves at offset To, wherever in [From, End)
// it is.
type Detour struct{ From, End, To int }

// Detours returns a function's code that simulates caches, by its index in Plans,
// sorted.
func (s *Spec) Detours(c *Code, function int) (list []Detour) {
	if !s.opt.Caches.On() {
		return nil
	}
	m, skip := s.again(c, function)
	m.detour = func(from, end, to int) { list = append(list, Detour{from + skip, end + skip, to + skip}) }
	m.function(s.plans[function])
	slices.SortFunc(list, func(a, b Detour) int { return cmp.Compare(a.From, b.From) })
	return list
}

// Lookout is code of ours by which a thread looks where the others are, and may be held.
// It stands before the instruction at Addr then, or with Arrives where control comes to
// the block that begins with it, of which nothing is counted yet.
type Lookout struct {
	From, End int // offsets
	Addr      uint64
	Arrives   bool
}

// Lookouts returns a function's, by its index in Plans.
func (s *Spec) Lookouts(c *Code, function int) (list []Lookout) {
	m, skip := s.again(c, function)
	m.looking = func(l Lookout) {
		l.From, l.End = l.From+skip, l.End+skip
		list = append(list, l)
	}
	m.function(s.plans[function])
	return list
}

// looksFrom emits a look, and tells where control is.
func (m *emitter) looksFrom(stands Lookout, code func()) {
	from := m.Len()
	code()
	if m.looking != nil {
		stands.From, stands.End = from, m.Len()
		m.looking(stands)
	}
}

// again prepares to emit a function once more at its place; offsets are behind skip.
func (s *Spec) again(c *Code, function int) (m *emitter, skip int) {
	skip = int(c.starts[function])&^63 - 64 // alignment stays
	if s.once == nil {
		s.once = asm.New(0)
	}
	s.once.Restart(c.Base + uint64(skip))
	m = newEmitterOf(s.once, s, c.Base)
	m.space, m.network = s.space, s.network
	m.Raw(make([]byte, int(c.starts[function])-skip)...)
	return m, skip
}
