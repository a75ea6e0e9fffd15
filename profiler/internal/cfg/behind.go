package cfg

import (
	"cmp"
	"slices"
)

// A region in which threads wait for what others do ends as soon as they do not any more.
// What then chooses what to do next is not of it, though it is no work yet: it decides
// how much that will be.
//
//	wait ──▷ if (uneven) ──▷ much work
//	     ▲ here     └──────▷ little    ▲ not here
//
// One in which threads meet goes on to where work begins: who came last and who waited
// come to that by different ways, and their parts are to begin alike.

// behind are the points where an area is left that has some operations.
func (s *study) behind(a area, in []inner, meets bool) (ends []point) {
	last, follows := map[int32]int{}, map[int32]bool{} // last: by block, the operation that stands last in it
	if meets {
		for x := range a.to {
			follows[x] = true
		}
	} else {
		for _, i := range in {
			last[i.b] = max(last[i.b], i.op.at)
		}
		follows = s.before(a, last)
	}
	for x := range a.to {
		if follows[x] {
			ends = append(ends, s.leave(a, x, last, follows)...)
		}
	}
	slices.SortFunc(ends, func(x, y point) int { return cmp.Or(cmp.Compare(x.b, y.b), cmp.Compare(x.at, y.at)) })
	return slices.Compact(ends)
}

// leave are the points where control leaves an area from a block of it.
func (s *study) leave(a area, x int32, last map[int32]int, follows map[int32]bool) (ends []point) {
	b, to := s.Blocks[x], a.to[x]
	stays := slices.ContainsFunc(b.Succ, func(e *Edge) bool { return s.staysBy(a, b, e, follows) })
	switch k, is := last[x]; {
	case is && k+1 < len(b.Insns) && (to < len(b.Insns) || !stays):
		return []point{{x, k + 1}}
	case to < len(b.Insns):
		return []point{{x, to}}
	}
	for _, e := range b.Succ {
		switch {
		case e.Kind == Caught || s.staysBy(a, b, e, follows):
		case e.To == nil:
			ends = append(ends, point{x, len(b.Insns) - 1})
		case !s.doomed[e.To.ID]:
			ends = append(ends, point{int32(e.To.ID), 0})
		}
	}
	return ends
}

// before are the blocks of an area from which operations of it can be come to, those with
// one among them.
func (s *study) before(a area, last map[int32]int) map[int32]bool {
	follows := map[int32]bool{}
	for x := range last {
		follows[x] = true
	}
	for again := true; again; {
		again = false
		for x, to := range a.to {
			if follows[x] || to < len(s.Blocks[x].Insns) {
				continue
			}
			if slices.ContainsFunc(s.Blocks[x].Succ, func(e *Edge) bool { return s.staysBy(a, s.Blocks[x], e, follows) }) {
				follows[x], again = true, true
			}
		}
	}
	return follows
}

// staysBy reports whether an edge from a block of an area leads to where operations of it
// follow: also by going round, where that is to try again.
func (s *study) staysBy(a area, from *Block, e *Edge, follows map[int32]bool) bool {
	if e.To == nil || e.Kind == Caught || !follows[int32(e.To.ID)] {
		return false
	}
	if y := int32(e.To.ID); y != a.top {
		return a.has(y)
	}
	l := s.Blocks[a.top].Loop
	return l != nil && l != s.round(a.top) && l.Has(from)
}
