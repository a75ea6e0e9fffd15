package cfg

import (
	"maps"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// What was taken need not come back in a register: larger values are left in an object
// of the caller's, whose address it passes, and asked by further calls.
//
//	lea  rdi, [rsp+16]        std::optional<job> j = pop();
//	call pop
//	cmp  byte [rsp+56], 0     if (!j) break;

// convention is how functions call each other: arguments are the registers by which callees
// are told of objects to fill, of those in which pointers are passed the first ones. What
// is given in registers counts as if the code itself said it: for task != nil { task();
// task = <-tasks }, where the first task was given.
type convention struct {
	arguments             []x86.Reg
	object                int32 // how far behind an object's address a slot may lie that is of it
	results, saved, given x86.Regs
}

// goPasses are the registers in which Go passes arguments, and results.
const goPasses x86.Regs = 1<<x86.RAX | 1<<x86.RBX | 1<<x86.RCX | 1<<x86.RDI | 1<<x86.RSI | 1<<x86.R8 | 1<<x86.R9 | 1<<x86.R10 | 1<<x86.R11

var (
	ofC = convention{
		arguments: []x86.Reg{x86.RDI, x86.RSI, x86.RDX},
		object:    64,
		results:   1<<x86.RAX | 1<<x86.RDX,
		saved:     1<<x86.RBX | 1<<x86.RBP | 1<<x86.RSP | 1<<x86.R12 | 1<<x86.R13 | 1<<x86.R14 | 1<<x86.R15,
	}
	inGo = convention{
		arguments: []x86.Reg{x86.RAX, x86.RBX, x86.RCX, x86.RDI, x86.RSI},
		object:    16, // what is larger is mostly returned
		results:   goPasses,
		saved:     1<<x86.RSP | 1<<x86.RBP | 1<<x86.R14,
		given:     goPasses,
	}
)

// end is how far an object in the frame reaches at most: to the next one.
func (p *named) end(m x86.Mem) int32 {
	end := m.Disp + p.calls.object
	for _, o := range p.objects {
		if o.Base == m.Base && o.Disp > m.Disp {
			end = min(end, o.Disp)
		}
	}
	return end
}

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
func (t *taken) pointed(in *x86.Insn, own bool) (to x86.Reg, m x86.Mem, is bool) {
	if own && in.Map == 0 && in.Opcode == 0x8d {
		return in.Reg, in.Mem, true
	}
	to, from, is := copies(in)
	switch {
	case !is:
	case from == x86.RSP:
		m = x86.Mem{Base: x86.RSP, Index: x86.None}
	default:
		m, is = t.points[from]
	}
	return to, m, is
}

// copies is moved, of what goes from one general register to another as it is.
func copies(in *x86.Insn) (to, from x86.Reg, is bool) {
	to, from, is = moved(in)
	return to, from, is && !in.HasMem && in.Map == 0 && in.Opcode != 0x63
}

// fills are the arguments of a function's through which it stores, or has others do so,
// in the order in which compilers lay its code out.
func (d *Dealer) fills(g *Graph, depth int) x86.Regs {
	framed := g.Framed()
	p := passing{held: map[x86.Reg]x86.Regs{}, slots: map[x86.Mem]x86.Regs{}}
	for _, r := range ofC.arguments {
		p.held[r] = r.Set()
	}
	for _, b := range g.Blocks {
		call := 0
		for i := range b.Insns {
			if in := &b.Insns[i]; !in.Kind.IsCall() {
				p.step(in, isSlot(in, framed))
			} else {
				p.call(d.habitOf(&b.Calls[call], depth))
				call++
			}
		}
	}
	return p.filled
}

// passing follows which arguments registers and slots hold.
type passing struct {
	held   map[x86.Reg]x86.Regs
	slots  map[x86.Mem]x86.Regs
	filled x86.Regs // those through which something was stored
}

func (p *passing) call(h habit) {
	for _, r := range ofC.arguments {
		if h.fills&r.Set() != 0 {
			p.filled |= p.held[r]
		}
	}
	maps.DeleteFunc(p.held, func(r x86.Reg, _ x86.Regs) bool { return r.Set()&ofC.saved == 0 })
}

func (p *passing) step(in *x86.Insn, own bool) {
	var passed x86.Regs
	to, from, copied := copies(in)
	switch plain := in.HasMem && in.Map == 0; {
	case copied:
		passed = p.held[from]
	case plain && own && in.Opcode == 0x8b:
		to, passed = in.Reg, p.slots[in.Mem]
	case plain && own && in.Opcode == 0x89:
		p.slots[in.Mem] = p.held[in.Reg]
	case plain && !own && in.Opcode == 0x8d:
		to, passed = in.Reg, p.held[in.Mem.Base]
	case in.HasMem && in.Stores && !own:
		p.filled |= p.held[in.Mem.Base]
	}
	maps.DeleteFunc(p.held, func(r x86.Reg, _ x86.Regs) bool { return in.Def&r.Set() != 0 })
	if passed != 0 {
		p.held[to] = passed
	}
}

// isSlot reports whether an instruction's memory operand is a slot of the frame.
func isSlot(in *x86.Insn, framed bool) bool {
	return in.HasMem && in.Mem.Index == x86.None && (in.Mem.Base == x86.RSP || in.Mem.Base == x86.RBP && framed)
}
