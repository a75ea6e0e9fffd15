package cfg

import (
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Who waits may be counted while it does: std::atomic's wait adds one to where who
// notifies looks, and takes it off again. That hands out nothing, and takes nothing.

// evens: what blocks add to, without a look at what was there, they take off again.
func (s *study) evens(blocks []*Block) bool {
	type sum struct {
		of int64
		at []point
	}
	sums := map[x86.Mem]*sum{}
	for _, b := range blocks {
		for i := range b.Insns {
			in := &b.Insns[i]
			if s.doomed[b.ID] || !addsLocked(in) {
				continue
			}
			n, ok := in.Adds()
			if !ok {
				return false
			}
			at, points := s.kept(blocks, b, i), []point{{int32(b.ID), i}}
			if k, by := addressed(b, i); k >= 0 { // it is from there on that the register says where
				at, points = by, []point{{int32(b.ID), k}, points[0]}
			}
			if sums[at] == nil {
				sums[at] = &sum{}
			}
			sums[at].of += n
			sums[at].at = append(sums[at].at, points...)
		}
	}
	for mem, x := range sums {
		if x.of != 0 || s.movedBetween(blocks, x.at)&(mem.Base.Set()|mem.Index.Set()) != 0 {
			return false
		}
	}
	return true
}

// kept is the memory that an instruction names: by the register that its base was
// loaded from the frame for, where only that is stored there.
func (s *study) kept(blocks []*Block, b *Block, i int) x86.Mem {
	at := b.Insns[i].Mem
	if at.RIP {
		return x86.Mem{RIP: true, Base: x86.None, Index: x86.None, Disp: int32(b.Insns[i].RIPTarget)} // which no two places of a program share
	}
	k := -1
	if at.Base != x86.None {
		k = set(b, i, at.Base)
	}
	if k < 0 {
		return at
	}
	load := &b.Insns[k]
	if !isMove(load, 0x8b) || !s.own(load) {
		return at
	}
	from := x86.None
	for _, b := range blocks {
		for i := range b.Insns {
			in := &b.Insns[i]
			switch {
			case !in.Stores || !in.HasMem || in.Mem != load.Mem:
			case !isMove(in, 0x89) || from != x86.None && from != in.Reg:
				return at
			default:
				from = in.Reg
			}
		}
	}
	if from != x86.None {
		at.Base = from
	}
	return at
}

// addressed is where an instruction's address was put into a register before (lea), in its
// block, and the memory by that register; −1: it was not.
func addressed(b *Block, i int) (k int, by x86.Mem) {
	at := b.Insns[i].Mem
	turned := at
	if at.Scale == 1 {
		turned.Base, turned.Index = at.Index, at.Base
	}
	for k = i - 1; k >= 0 && !at.RIP; k-- {
		in := &b.Insns[k]
		isLea := in.Vex == 0 && in.Map == 0 && in.Opcode == 0x8d && in.Rex&8 != 0 && in.Reg != at.Base && in.Reg != at.Index
		if isLea && (in.Mem == at || in.Mem == turned) && writtenBy(b.Insns[k+1:i])&in.Reg.Set() == 0 {
			return k, x86.Mem{Base: in.Reg, Index: x86.None}
		}
		if writtenBy(b.Insns[k:k+1])&(at.Base.Set()|at.Index.Set()) != 0 {
			break
		}
	}
	return -1, at
}

// isMove: it moves a whole register from memory, 8b, or to it, 89.
func isMove(in *x86.Insn, opcode byte) bool {
	return in.Vex == 0 && in.Map == 0 && in.Opcode == opcode && in.HasMem && in.Rex&8 != 0
}

// scratch are the registers that a call leaves with something else in them.
const scratch = x86.Regs(1<<x86.RAX | 1<<x86.RCX | 1<<x86.RDX | 1<<x86.RSI | 1<<x86.RDI | 1<<x86.R8 | 1<<x86.R9 | 1<<x86.R10 | 1<<x86.R11)

// writtenBy are the registers that code writes.
func writtenBy(code []x86.Insn) (all x86.Regs) {
	for i := range code {
		if code[i].Kind.IsCall() {
			all |= scratch
		} else {
			all |= code[i].Def
		}
	}
	return all
}

// movedBetween are the registers that are written on the ways from one of some points
// to another one.
func (s *study) movedBetween(blocks []*Block, points []point) (moved x86.Regs) {
	written := func(b int32, from, to int) { moved |= writtenBy(s.Blocks[b].Insns[from:to]) }
	heads := map[int32]int{} // of the blocks with a point, up to the first
	for _, p := range points {
		if at, ok := heads[p.b]; !ok || p.at < at {
			heads[p.b] = p.at
		}
	}
	for _, p := range points {
		next := slices.IndexFunc(points, func(q point) bool { return q.b == p.b && q.at > p.at })
		if next >= 0 {
			written(p.b, p.at+1, points[next].at)
			continue
		}
		between, ends := s.between(blocks, p.b, heads)
		if len(ends) > 0 {
			written(p.b, p.at+1, len(s.Blocks[p.b].Insns))
		}
		for b := range between {
			written(b, 0, len(s.Blocks[b].Insns))
		}
		for b := range ends {
			written(b, 0, heads[b])
		}
	}
	return moved
}

// between are the blocks on the ways from behind one block to the heads, and the heads
// that these come to.
func (s *study) between(blocks []*Block, from int32, heads map[int32]int) (passed, ends map[int32]bool) {
	of, passed, ends := map[int32]bool{}, map[int32]bool{}, map[int32]bool{}
	for _, b := range blocks {
		of[int32(b.ID)] = !s.doomed[b.ID]
	}
	for stack := []int32{from}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, e := range s.Blocks[x].Succ {
			if e.To == nil || !of[int32(e.To.ID)] {
				continue
			}
			y := int32(e.To.ID)
			if _, head := heads[y]; head {
				ends[y] = true
			} else if !passed[y] {
				passed[y] = true
				stack = append(stack, y)
			}
		}
	}
	for again := true; again; { // what leads to none of them is on no way
		again = false
		maps.DeleteFunc(passed, func(b int32, _ bool) bool {
			leads := slices.ContainsFunc(s.Blocks[b].Succ, func(e *Edge) bool {
				return e.To != nil && (passed[int32(e.To.ID)] || ends[int32(e.To.ID)])
			})
			again = again || !leads
			return !leads
		})
	}
	return passed, ends
}
