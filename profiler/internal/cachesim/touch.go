package cachesim

// access is what does not change from line to line, and the bytes that do.
type access struct {
	core  int
	write bool
	op    uint32
	span  span
}

// touch is an access to one line.
func (s *System) touch(a *access, line uint64) Outcome {
	c := s.core(a.core)
	w := c.l1.use(line)
	if w != nil && w.state.valid() {
		return s.held(a, w, Outcome{})
	}
	if c.l2 == nil {
		return s.fetch(a, line, w, w)
	}
	w2 := c.l2.use(line)
	if w2 == nil || !w2.state.valid() {
		return s.fetch(a, line, w, w2)
	}
	o := Outcome{Level: L2, Kind: c.l1.missed(line)}
	c.l1.fill(*w2) // it has room for it, or drops what the L2 still has
	return s.held(a, w2, o)
}

// held completes an access to a valid copy: w, in the L1 or the L2. A write to one
// that others may read takes it from them first.
func (s *System) held(a *access, w *way, o Outcome) Outcome {
	if !a.write {
		return o
	}
	e := s.lines.entry(w.id)
	if w.state == writable {
		if e.recorded() {
			e.wrote(a, cores{})
		}
		return o
	}
	o.Upgrade = true
	line, others := w.line, e.holders.without(a.core)
	s.mark(others, line, invalid)
	s.mark(alone(a.core), line, writable)
	e.holders = alone(a.core)
	e.wrote(a, others)
	return o
}

// fetch completes an access that no private level has a valid copy for. What it has
// in the L1 and in the last private level is w and outer: invalid, or nil.
func (s *System) fetch(a *access, line uint64, w, outer *way) Outcome {
	id := s.lines.id(line)
	e := s.lines.entry(id)
	others := e.holders
	o := s.serve(a, line, !others.empty())
	switch {
	case outer != nil:
		o.Kind, o.Partner = e.record.back(a.core, a.span.bytes())
		e.record.leave(a.core)
	case !e.touched.has(a.core):
		o.Kind = Cold
	}
	is := writable
	switch {
	case a.write:
		s.mark(others, line, invalid)
		e.wrote(a, others)
		e.holders = alone(a.core)
	case !others.empty():
		is = shared
		s.mark(others, line, shared)
		e.holders.add(a.core)
	default:
		e.holders = alone(a.core)
	}
	e.touched.add(a.core)
	s.place(a.core, way{line: line, id: id, state: is}, w, outer)
	return o
}

// serve looks a line up in the L3, and puts it there, whoever serves it: that is
// another core's cache, by way of the L3, if one holds the line. The kind is right
// for who has touched the line and has no invalid copy; it is judged in the level
// that missed last: the L3 itself where memory serves.
func (s *System) serve(a *access, line uint64, held bool) Outcome {
	o := Outcome{Level: L3, Kind: s.cores[a.core].outer().missed(line)}
	if s.l3 == nil {
		o.Level = Memory
		return o
	}
	if s.l3.use(line) != nil {
		return o
	}
	if !held {
		o = Outcome{Level: Memory, Kind: s.l3.missed(line)}
	}
	s.l3.fill(way{line: line, state: shared})
	return o
}

// place puts a line into the private levels, into the ways that its invalid copies
// have or else into new ones: from the outside in, so that who must leave the L1
// because the L2 has no room makes room there, too.
func (s *System) place(core int, n way, w, outer *way) {
	c := &s.cores[core]
	if outer != nil {
		outer.state = n.state
	} else if victim := c.outer().fill(n); victim.state != empty {
		if c.l2 != nil {
			c.l1.remove(victim.line)
		}
		s.evicted(core, victim)
	}
	switch {
	case c.l2 == nil:
	case w != nil:
		w.state = n.state
	default:
		c.l1.fill(n)
	}
}

// evicted says that a core has no copy of a line any more, valid or not.
func (s *System) evicted(core int, victim way) {
	e := s.lines.entry(victim.id)
	e.holders.remove(core)
	if victim.state == invalid {
		e.record.leave(core)
	}
}

// mark gives the copies that some cores have a state.
func (s *System) mark(of cores, line uint64, is state) {
	of.each(func(core int) {
		c := &s.cores[core]
		if w := c.l1.peek(line); w != nil {
			w.state = is
		}
		if c.l2 == nil {
			return
		}
		if w := c.l2.peek(line); w != nil {
			w.state = is
		}
	})
}
