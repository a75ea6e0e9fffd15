package relocate

import "sort"

// Copied is an original instruction, and where in the cache its copy is.
type Copied struct {
	Addr       uint64
	Start, End int // offsets
}

// Copied returns the copied instructions of a function, by its index in Plans,
// sorted. Emission is deterministic: the function is emitted once more, at the
// same place, and listened to.
func (s *Spec) Copied(c *Code, function int) (list []Copied) {
	skip := int(c.starts[function])&^63 - 64 // alignment stays
	m := newEmitter(s, c.Base, uint64(skip))
	m.Raw(make([]byte, int(c.starts[function])-skip)...)
	m.copied = func(addr uint64, start int) { list = append(list, Copied{addr, start + skip, m.Len() + skip}) }
	m.function(s.plans[function])
	return list
}

// Origin translates an offset in the cache, in a function of which these are the
// copied instructions: the original address of the one copied there, or, with
// after, of the one last executed when the offset lies in code of ours behind it.
// ok is false in front of all.
func Origin(function []Copied, offset uint64) (addr uint64, after, ok bool) {
	at := int(offset)
	i := sort.Search(len(function), func(i int) bool { return function[i].Start > at }) - 1
	if i < 0 {
		return 0, false, false
	}
	x := function[i]
	return x.Addr, x.End <= at, true
}
