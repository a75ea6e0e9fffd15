package cfg

import (
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
)

// area is a part of a function with one way in and no work: from an instruction
// of its first block to where work comes, or what can be come to another way,
// or the loop goes round that it is in.
type area struct {
	top  int32
	from int           // instruction of the first block
	to   map[int32]int // by block: the instruction before which the area ends in it, or the block's length
}

// point is an instruction of a block.
type point struct {
	b  int32
	at int
}

// worksBefore and worksFrom are the instruction behind the last work in a block
// before an instruction, and the first work from there on.
func (s *study) worksBefore(b int32, at int) (from int) {
	if s.work[b] {
		return len(s.Blocks[b].Insns)
	}
	for _, o := range s.ops[b] {
		if o.kind == opWork && o.at < at {
			from = o.at + 1
		}
	}
	return from
}

func (s *study) worksFrom(b int32, at int) int {
	if s.work[b] {
		return 0
	}
	for _, o := range s.ops[b] {
		if o.kind == opWork && o.at >= at {
			return o.at
		}
	}
	return len(s.Blocks[b].Insns)
}

// grow finds the largest area around a wait that does nothing but synchronise.
func (s *study) grow(b int32, at int) (best area, ok bool) {
	if s.work[b] {
		return best, false
	}
	for t := b; t != flowgraph.None; t = s.dom.Idom[t] {
		end := len(s.Blocks[t].Insns)
		if t == b {
			end = at
		}
		a := s.areaFrom(t, s.worksBefore(t, end))
		if to, in := a.to[b]; in && at < to && (t != b || at >= a.from) && !s.tries(s.round(t)) {
			best, ok = a, true
		}
		if s.worksBefore(t, end) > 0 {
			break
		}
	}
	return best, ok
}

// tries: a loop is a part of a wait, and not what goes round with one.
func (s *study) tries(l *Loop) bool {
	return l != nil && (s.loops[l] == retries || s.loops[l] == delays)
}

// round is the loop that an area goes round with: the innermost around its first
// block, but for those that begin there and only try again.
func (s *study) round(t int32) *Loop {
	l := s.Blocks[t].Loop
	for l != nil && int32(l.Head.ID) == t && s.loops[l] == retries {
		l = l.Parent
	}
	return l
}

// areaFrom is the area that begins at an instruction: what can be come to from
// there, without what can be come to another way too.
func (s *study) areaFrom(t int32, from int) area {
	a := area{top: t, from: from, to: map[int32]int{}}
	set := s.reach(&a, nil)
	for again := true; again; {
		again = false
		for x := range set {
			if x != t && slices.ContainsFunc(s.Blocks[x].Pred, func(e *Edge) bool { return !s.comes(set, e, &a) }) {
				delete(set, x)
				again = true
			}
		}
		if again {
			set = s.reach(&a, set)
		}
	}
	for x := range set {
		a.to[x] = s.worksFrom(x, a.start(x))
	}
	return a
}

// start is the instruction at which an area begins in a block.
func (a *area) start(b int32) int {
	if b == a.top {
		return a.from
	}
	return 0
}

// reach is what can be come to from where an area begins, past no work, without
// leaving its loop or going round in it; of a set, if one is given.
func (s *study) reach(a *area, of map[int32]bool) map[int32]bool {
	seen := map[int32]bool{a.top: true}
	for stack := []int32{a.top}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.worksFrom(x, a.start(x)) < len(s.Blocks[x].Insns) {
			continue
		}
		for _, e := range s.Blocks[x].Succ {
			if e.To == nil {
				continue
			}
			if y := int32(e.To.ID); !seen[y] && (of == nil || of[y]) && s.mayHold(a, e.To) {
				seen[y] = true
				stack = append(stack, y)
			}
		}
	}
	return seen
}

// mayHold: a block is of the area's loop, and begins no loop that is not a wait.
func (s *study) mayHold(a *area, b *Block) bool {
	outer := s.round(a.top)
	if int32(b.ID) == a.top || s.doomed[b.ID] || outer != nil && !outer.Has(b) {
		return false
	}
	return b.Loop == nil || b.Loop.Head != b || b.Loop == outer || s.tries(b.Loop)
}

// comes reports whether an edge comes from within a set, past all work.
func (s *study) comes(set map[int32]bool, e *Edge, a *area) bool {
	if e.From == nil {
		return false
	}
	x := int32(e.From.ID)
	return s.doomed[x] || set[x] && s.worksFrom(x, a.start(x)) == len(s.Blocks[x].Insns)
}

func (a *area) has(b int32) bool { _, in := a.to[b]; return in }
