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
	end := func(p point) {
		if !slices.Contains(ends, p) {
			ends = append(ends, p)
		}
	}
	for x, to := range a.to {
		if !follows[x] {
			continue
		}
		b := s.Blocks[x]
		leaves := func(e *Edge) bool {
			return e.Kind != Caught && (e.To == nil || !s.doomed[e.To.ID]) && !s.staysBy(a, b, e, follows)
		}
		if k, is := last[x]; is && k+1 < len(b.Insns) && (to < len(b.Insns) || !slices.ContainsFunc(b.Succ, func(e *Edge) bool { return e.Kind != Caught && s.staysBy(a, b, e, follows) })) {
			end(point{x, k + 1})
			continue
		}
		if to < len(b.Insns) {
			end(point{x, to})
			continue
		}
		for _, e := range b.Succ {
			switch {
			case !leaves(e):
			case e.To == nil:
				end(point{x, len(b.Insns) - 1})
			default:
				end(point{int32(e.To.ID), 0})
			}
		}
	}
	slices.SortFunc(ends, func(x, y point) int { return cmp.Or(cmp.Compare(x.b, y.b), cmp.Compare(x.at, y.at)) })
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
