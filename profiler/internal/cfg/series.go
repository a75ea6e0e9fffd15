package cfg

import "slices"

// A loop that collects the results of threads one by one is one wait; where the compiler
// has unrolled it, or it was written out, the same function is called several times in
// turn, with nothing between by which anybody could be let go on: locks are taken and left
// to look whether there is anything to wait for, and std::atomic counts who waits.

// series are the calls of one function that wait in turn, to which a wait belongs: it
// alone where there are no others.
func (s *study) series(wait point) map[point]bool {
	all := map[point]bool{wait: true}
	name := s.waiter(wait)
	if name == "" {
		return all
	}
	var same []point
	for _, b := range s.Blocks {
		for _, o := range s.ops[b.ID] {
			if p := (point{int32(b.ID), o.at}); s.waiter(p) == name {
				same = append(same, p)
			}
		}
	}
	if len(same) == 1 {
		return all
	}
	for list := []point{wait}; len(list) > 0; list = list[1:] {
		for _, p := range same {
			if !all[p] && (s.follows(list[0], p, name) || s.follows(p, list[0], name)) {
				all[p] = true
				list = append(list, p)
			}
		}
	}
	return all
}

// follows reports whether one wait comes behind another one, and nothing between.
func (s *study) follows(first, then point, name string) bool {
	if first.b == then.b && first.at >= then.at || first.b != then.b && s.dom.Dominates(then.b, first.b) {
		return false
	}
	seen := map[int32]bool{}
	for stack := []point{{first.b, first.at + 1}}; len(stack) > 0; {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at := s.nextOp(p); at >= 0 {
			switch next := (point{p.b, at}); {
			case next == then:
				return true
			case s.looks(next, name):
				stack = append(stack, point{p.b, at + 1})
			}
			continue
		}
		if s.work[p.b] || s.stores[p.b] || s.steps[p.b] {
			continue
		}
		for _, e := range s.Blocks[p.b].Succ {
			if e.Kind != Caught && e.To != nil && !seen[int32(e.To.ID)] {
				seen[int32(e.To.ID)] = true
				stack = append(stack, point{int32(e.To.ID), 0})
			}
		}
	}
	return false
}

// nextOp is where the first operation of a block stands from an instruction on; −1: there
// is none.
func (s *study) nextOp(p point) int {
	i := slices.IndexFunc(s.ops[p.b], func(o op) bool { return o.at >= p.at })
	if i < 0 {
		return -1
	}
	return s.ops[p.b][i].at
}

// waiter is the function by which a thread waits at a call, a library's or one of the
// program's that only looks and waits; "": it does not.
func (s *study) waiter(p point) string {
	b := s.Blocks[p.b]
	i := slices.IndexFunc(s.ops[p.b], func(o op) bool { return o.at == p.at && (o.kind == opWait || o.kind == opWeak) && !o.future })
	c := b.CallOf(&b.Insns[p.at])
	if i < 0 || c == nil {
		return ""
	}
	if o := &s.ops[p.b][i]; o.callee != nil && !o.adds && !o.wakes {
		return o.callee.Name
	}
	return c.Import
}

// looks: an operation is of who looks for one result after another, by a function: it
// takes a lock or leaves it, or counts in the library of C++ who waits.
func (s *study) looks(p point, name string) bool {
	b := s.Blocks[p.b]
	in := &b.Insns[p.at]
	if c := b.CallOf(in); c != nil {
		locks, unlocks := lockOf(c.Import)
		return (locks || unlocks) && s.waiter(p) == ""
	}
	_, counts := in.Adds()
	return in.Lock && counts && ofStandard(name)
}
