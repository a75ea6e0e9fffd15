package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// What was taken need not come back in a register: larger values are left in an object
// of the caller's, whose address it passes, and asked by further calls.
//
//	lea  rdi, [rsp+16]        std::optional<job> j = pop();
//	call pop
//	cmp  byte [rsp+56], 0     if (!j) break;

// convention is how functions call each other.
type convention struct{ results, saved x86.Regs }

var (
	ofC = convention{
		results: 1<<x86.RAX | 1<<x86.RDX,
		saved:   1<<x86.RBX | 1<<x86.RBP | 1<<x86.RSP | 1<<x86.R12 | 1<<x86.R13 | 1<<x86.R14 | 1<<x86.R15,
	}
	inGo = convention{
		results: 1<<x86.RAX | 1<<x86.RBX | 1<<x86.RCX | 1<<x86.RDI | 1<<x86.RSI | 1<<x86.R8 | 1<<x86.R9 | 1<<x86.R10 | 1<<x86.R11,
		saved:   1<<x86.RSP | 1<<x86.RBP | 1<<x86.R14,
	}
)

// arguments are the registers by which callees are told of objects to fill: of those in
// which C passes pointers the first ones. Go returns what is large on the stack.
var arguments = []x86.Reg{x86.RDI, x86.RSI, x86.RDX}

// objectSize is how far behind an object's address a slot may lie that is of it.
const objectSize = 64

// inObject reports whether a slot is of an object that was filled.
func (t *taken) inObject(slot x86.Mem) bool {
	for m, end := range t.objects {
		if m.Base == slot.Base && slot.Index == x86.None && slot.Disp >= m.Disp && slot.Disp < end {
			return true
		}
	}
	return false
}

// holds reports whether something that was taken is in an object: callees left it
// there, or this function has put it where the object begins.
func (t *taken) holds(m x86.Mem) bool {
	for s, o := range t.slots {
		if o == store && s.Base == m.Base && s.Disp >= m.Disp && s.Disp < m.Disp+16 {
			return true
		}
	}
	return t.inObject(m)
}

// fill: what is in an object from now on was taken.
func (t *taken) fill(m x86.Mem, end int32) {
	if t.objects == nil {
		t.objects = map[x86.Mem]int32{}
	}
	t.objects[m] = end
	for s := range t.slots {
		if s.Base == m.Base && s.Disp >= m.Disp && s.Disp < end {
			delete(t.slots, s)
		}
	}
}

// pointed is the object whose address an instruction puts into a register.
func (t *taken) pointed(in *x86.Insn, own bool) (m x86.Mem, is bool) {
	switch {
	case in.Map != 0 || in.Vex != 0:
	case in.Opcode == 0x8d && own:
		return in.Mem, true
	case copies(in) && movedFrom(in) == x86.RSP:
		return x86.Mem{Base: x86.RSP, Index: x86.None}, true
	case copies(in):
		m, is = t.points[movedFrom(in)]
	}
	return m, is
}

// copies recognises mov between general registers; movedTo and movedFrom are these, and
// movedTo is what lea writes, too.
func copies(in *x86.Insn) bool {
	return in.Map == 0 && in.Vex == 0 && (in.Opcode == 0x89 || in.Opcode == 0x8b) && !in.HasMem
}

func movedTo(in *x86.Insn) x86.Reg {
	if in.Opcode == 0x89 {
		return in.RM
	}
	return in.Reg
}

func movedFrom(in *x86.Insn) x86.Reg {
	if in.Opcode == 0x89 {
		return in.Reg
	}
	return in.RM
}

// fills are the arguments of a function's through which it stores, or has others do so,
// in the order in which compilers lay its code out.
func (d *Dealer) fills(g *Graph, depth int) (by x86.Regs) {
	framed := g.Framed()
	held := map[x86.Reg]x86.Regs{} // which arguments registers hold
	slots := map[x86.Mem]x86.Regs{}
	for _, r := range arguments {
		held[r] = r.Set()
	}
	for _, b := range g.Blocks {
		call := 0
		for i := range b.Insns {
			in := &b.Insns[i]
			if in.Kind.IsCall() {
				h := d.habitOf(&b.Calls[call], depth)
				call++
				for _, r := range arguments {
					if h.fills&r.Set() != 0 {
						by |= held[r]
					}
				}
				for r := range held {
					if r.Set()&ofC.saved == 0 {
						delete(held, r)
					}
				}
				continue
			}
			own := isSlot(in, framed)
			var passed x86.Regs
			switch {
			case copies(in):
				passed = held[movedFrom(in)]
			case in.HasMem && in.Map == 0 && in.Opcode == 0x8b && own:
				passed = slots[in.Mem]
			case in.HasMem && in.Map == 0 && in.Opcode == 0x89 && own:
				slots[in.Mem] = held[in.Reg]
			case in.HasMem && in.Map == 0 && in.Opcode == 0x8d && !own:
				passed = held[in.Mem.Base]
			case in.HasMem && in.Stores && !own:
				by |= held[in.Mem.Base]
			}
			for r := range held {
				if in.Def&r.Set() != 0 {
					delete(held, r)
				}
			}
			if passed != 0 {
				held[movedTo(in)] = passed
			}
		}
	}
	return by
}

// isSlot reports whether an instruction's memory operand is a slot of the frame.
func isSlot(in *x86.Insn, framed bool) bool {
	return in.HasMem && in.Mem.Index == x86.None && (in.Mem.Base == x86.RSP || in.Mem.Base == x86.RBP && framed)
}
