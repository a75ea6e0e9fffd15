package cfg

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Code that is built without PLT, as Rust's library is, calls through slots of the
// global offset table, which it may have read into a register long before:
//
//	mov slot(%rip), %r14   …   call *%r14
//
// Where the slot belongs to a function of the program itself, it is written once, by
// the dynamic linker, and what it will say stands in the image.

// entered is the function of the program that a call enters, as far as is known, also
// through a register that was loaded from such a slot.
func (p *Program) entered(g *Graph, c *Call) *Func {
	in := c.Insn
	if c.Known() || in.HasMem {
		return c.Callee
	}
	b := g.BlockOf(in.Addr)
	n := slices.IndexFunc(b.Insns, func(x x86.Insn) bool { return x.Addr == in.Addr })
	loads := origins(held{b, n - 1, in.RM}, func(x *x86.Insn) bool { return x.Map == 0 && x.Opcode == 0x8b && p.inSlot(x) != nil })
	var f *Func
	for i, a := range loads {
		if h := p.inSlot(g.InsnAt(a)); i == 0 {
			f = h
		} else if h != f {
			return nil
		}
	}
	return f
}

// inSlot is the function whose address stands in the slot that an instruction reads.
func (p *Program) inSlot(in *x86.Insn) *Func {
	if in.RIPOff == 0 || p.Image.GOT[in.RIPTarget] != "" {
		return nil
	}
	if s := p.Image.SectionAt(in.RIPTarget); s == nil || s.Name != ".got" {
		return nil
	}
	to, _ := p.Image.Word(in.RIPTarget)
	return p.FuncAt(to)
}
