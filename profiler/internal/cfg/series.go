package cfg

import "slices"

// A loop that collects the results of threads one by one is one wait; where the compiler
// has unrolled it, or it was written out, the same function is called several times in
// turn, with nothing between by which anybody could be let go on.

// series are the calls of one function that wait in turn, to which a wait belongs: it
// alone where there are no others.
func (s *study) series(wait point) map[point]bool {
	all := map[point]bool{wait: true}
	name := s.imported(wait)
	if name == "" {
		return all
	}
	var same []point
	for _, b := range s.Blocks {
		for _, o := range s.ops[b.ID] {
			if p := (point{int32(b.ID), o.at}); s.imported(p) == name {
				same = append(same, p)
			}
		}
	}
	for list := []point{wait}; len(list) > 0; list = list[1:] {
		for _, p := range same {
			if !all[p] && (s.follows(list[0], p) || s.follows(p, list[0])) {
				all[p] = true
				list = append(list, p)
			}
		}
	}
	return all
}

// follows reports whether one wait comes behind another one, and nothing between.
func (s *study) follows(first, then point) bool {
	if !s.dom.Dominates(first.b, then.b) {
		return false
	}
	seen := map[int32]bool{}
	for stack := []point{{first.b, first.at + 1}}; len(stack) > 0; {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at := s.nextOp(p); at >= 0 {
			if (point{p.b, at}) == then {
				return true
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

// imported is the library function by which a thread waits at a call; "": it does not.
func (s *study) imported(p point) string {
	b := s.Blocks[p.b]
	waits := slices.ContainsFunc(s.ops[p.b], func(o op) bool { return o.at == p.at && (o.kind == opWait || o.kind == opWeak) && !o.future })
	if c := b.CallOf(&b.Insns[p.at]); waits && c != nil {
		return c.Import
	}
	return ""
}
