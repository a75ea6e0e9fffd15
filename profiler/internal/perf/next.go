package perf

// complete reports whether there is a mark of each group.
func (t *Thread) complete() bool {
	have, all := 0, 1<<len(t.groups)-1
	for i := 0; i < len(t.in) && have != all; i++ {
		if k := t.in[i].kind; k < missAt {
			have |= 1 << k
		}
	}
	return have == all
}

// next takes the samples up to the first mark of each group: marks of one record come in
// any order, at the same moment. Two of one group before one of the other say that this
// one had no hardware there.
func (t *Thread) next(there bool) (c Counted, ok bool) {
	if !there || t.lost {
		t.lost = true
		return c, false
	}
	width := 0
	for i := range t.groups {
		width += len(t.groups[i].before.value)
	}
	c.N = make([]uint64, width)
	had, left := 0, t.in
	for len(left) > 0 && had != 1<<len(t.groups)-1 {
		s := &left[0]
		switch {
		case s.kind == lost || s.kind < missAt && had>>s.kind&1 != 0:
			t.lost = true
		case s.kind == missAt:
			if c.Misses == nil {
				c.Misses = map[uint64]int{}
			}
			c.Misses[s.pc]++
		default:
			had |= 1 << s.kind
			t.lost = !t.grow(int(s.kind), &s.reading, &c)
		}
		if t.lost {
			return Counted{}, false
		}
		left = left[1:]
	}
	t.in = left
	return c, true
}

// grow adds what a group has counted up to a reading.
func (t *Thread) grow(k int, now *reading, c *Counted) (known bool) {
	at := 0
	for i := range k {
		at += len(t.groups[i].before.value)
	}
	g := &t.groups[k]
	scaled, known := growth(&g.before, now, c.N[at:at+len(g.before.value)])
	g.before = *now
	c.Scaled = c.Scaled || scaled
	return known
}
