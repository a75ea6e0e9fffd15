package placement

import (
	"bytes"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Index is an instruction that tells what a loop counts its rounds by: it adds to a
// register, or to a word of the stack, that nothing else in the loop changes, once in
// each round (there may be several alike, on ways that exclude each other); or it is a
// lea of the sum of such a register and one that stays as it is. nil: there is none.
// Of several, the first that adds a constant, or what was there before the loop:
// others may add something else in each round.
func Index(g *cfg.Graph, l *cfg.Loop) (best *x86.Insn) {
	framed := g.Framed()
	for _, b := range l.Blocks {
		if b.Loop != l {
			continue
		}
		for i := range b.Insns {
			in := &b.Insns[i]
			if !counts(in) && !putsBack(b, i) || inMemory(in) && in.Mem.Base == x86.RBP && !framed || !alone(l, in) || !eachRound(l, in) {
				continue
			}
			if same(l, in) {
				return fromWhere(l, in)
			}
			if best == nil {
				best = in
			}
		}
	}
	return best
}

// Counts is the register that an instruction of Index adds to.
func Counts(in *x86.Insn) x86.Reg {
	if in.Opcode == 0x8d || in.Opcode == 0x03 {
		return in.Reg
	}
	return in.RM
}

// Sums reports whether an instruction of Index is a lea of a sum.
func Sums(in *x86.Insn) bool { return in.Opcode == 0x8d && in.Mem.Index != x86.None }

// counts recognises r += …, on 32 bits or 64, of a register or a word of the stack.
func counts(in *x86.Insn) bool {
	if in.Vex != 0 || in.Map != 0 || in.Opsize || in.Lock || in.Kind != x86.Normal {
		return false
	}
	switch in.Opcode {
	case 0x83, 0x81:
		if in.Ext() != 0 && in.Ext() != 5 {
			return false
		}
	case 0xff:
		if in.Ext() > 1 {
			return false
		}
	case 0x01:
	case 0x03:
		return in.Reg != x86.RSP
	case 0x8d:
		return in.Mem.Base == in.Reg && in.Mem.Index == x86.None && !in.Mem.RIP && !in.Mem.Addr32 && in.Reg != x86.RSP
	default:
		return false
	}
	if in.HasMem {
		m := in.Mem
		return (m.Base == x86.RSP || m.Base == x86.RBP) && m.Index == x86.None && m.Segment == 0 && !m.Addr32
	}
	return in.RM != x86.RSP
}

// putsBack recognises the last instruction of a sum that is loaded from a word of the
// stack, added to, and stored there again, as unoptimised code has it.
func putsBack(b *cfg.Block, i int) bool {
	store := &b.Insns[i]
	if i < 2 || store.Vex != 0 || store.Map != 0 || store.Opcode != 0x89 || store.Opsize || !store.HasMem {
		return false
	}
	add, load := &b.Insns[i-1], &b.Insns[i-2]
	if store.Mem.Base != x86.RBP || store.Mem.Index != x86.None || load.Vex != 0 || load.Map != 0 || load.Opcode != 0x8b || load.Reg != store.Reg || !counts(add) || Counts(add) != store.Reg {
		return false
	}
	loads := func(in *x86.Insn) bool { return in.HasMem && in.Mem == store.Mem }
	return loads(load) != loads(add) // it is one of the two that are added
}

// inMemory: what an instruction adds to is a word of the stack.
func inMemory(in *x86.Insn) bool { return in.HasMem && in.Opcode != 0x8d && in.Opcode != 0x03 }

// alike: two instructions do the same.
func alike(a, b *x86.Insn) bool { return bytes.Equal(a.Bytes, b.Bytes) && a.RIPOff == 0 }

// alone: nothing else in the loop changes what an instruction adds to, unless that is
// alike and in no inner loop.
func alone(l *cfg.Loop, count *x86.Insn) bool {
	for _, b := range l.Blocks {
		for i := range b.Insns {
			in := &b.Insns[i]
			if b.Loop == l && alike(in, count) {
				continue
			}
			if inMemory(count) {
				if in.Stores && in.HasMem && in.Mem == count.Mem || in.Def&count.Mem.Base.Set() != 0 && !in.Kind.IsCall() {
					return false
				}
			} else if changed(in, Counts(count)) {
				return false
			}
		}
	}
	return true
}

// changed reports whether an instruction may change a register. Of calls that is known
// of those that return something; whoever goes on counting in another register
// knows that the function leaves it alone.
func changed(in *x86.Insn, r x86.Reg) bool {
	if in.Kind.IsCall() {
		return r == x86.RAX || r == x86.RDX
	}
	return in.Def&r.Set() != 0
}

// same: what an instruction adds is the same in each round.
func same(l *cfg.Loop, count *x86.Insn) bool {
	switch count.Opcode {
	case 0x01:
		return stays(l, count.Reg)
	case 0x03:
		return !count.HasMem && stays(l, count.RM)
	}
	return true
}

// stays reports whether no instruction of a loop changes a register.
func stays(l *cfg.Loop, r x86.Reg) bool {
	for _, b := range l.Blocks {
		for i := range b.Insns {
			if changed(&b.Insns[i], r) {
				return false
			}
		}
	}
	return true
}

// fromWhere: compilers count from 0 and add where the thread began; then the sum
// tells more.
func fromWhere(l *cfg.Loop, count *x86.Insn) *x86.Insn {
	if inMemory(count) {
		return count
	}
	r := Counts(count)
	for _, b := range l.Blocks {
		for i := range b.Insns {
			in := &b.Insns[i]
			m := in.Mem
			if in.Opcode != 0x8d || in.Map != 0 || in.Vex != 0 || m.Index == x86.None || m.Base == x86.None || m.Addr32 || m.Base == x86.RSP {
				continue
			}
			if m.Base == r && stays(l, m.Index) || m.Index == r && stays(l, m.Base) {
				return in
			}
		}
	}
	return count
}

// eachRound: whoever goes round in a loop passes an instruction, or one alike: without
// these no way leads from the head back to it.
func eachRound(l *cfg.Loop, count *x86.Insn) bool {
	passes := func(b *cfg.Block) bool {
		for i := range b.Insns {
			if b.Loop == l && alike(&b.Insns[i], count) {
				return true
			}
		}
		return false
	}
	if passes(l.Head) {
		return true
	}
	seen := map[*cfg.Block]bool{l.Head: true}
	for stack := []*cfg.Block{l.Head}; len(stack) > 0; {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, e := range b.Succ {
			switch to := e.To; {
			case to == l.Head:
				return false
			case to != nil && l.Has(to) && !seen[to] && !passes(to):
				seen[to] = true
				stack = append(stack, to)
			}
		}
	}
	return true
}
