package relocate

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

// Origin translates an offset in the cache: the original address of the
// instruction copied there, or, with after, of the one last executed when the
// offset lies in code of ours behind it. ok is false outside of moved code.
func (s *Spec) Origin(c *Code, offset uint64) (addr uint64, after, ok bool) {
	i := c.Function(offset)
	if i < 0 || offset >= uint64(len(c.Bytes)) {
		return 0, false, false
	}
	at := int(offset)
	for _, x := range s.Copied(c, i) {
		switch {
		case x.Start <= at && at < x.End:
			return x.Addr, false, true
		case x.End <= at:
			addr, after, ok = x.Addr, true, true
		}
	}
	return addr, after, ok
}
