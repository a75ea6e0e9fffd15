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
// the dynamic linker, and what it will say stands in the image. Of another one's it
// has the name there.

// entered is what a call enters, as far as is known, also through a register that was
// loaded from such a slot: a function of the program, or another one's by its name.
func (p *Program) entered(g *Graph, c *Call) (f *Func, name string) {
	in := c.Insn
	if c.Known() || in.HasMem {
		return c.Callee, c.Import
	}
	b := g.BlockOf(in.Addr)
	n := slices.IndexFunc(b.Insns, func(x x86.Insn) bool { return x.Addr == in.Addr })
	slot := func(x *x86.Insn) bool { return x.Map == 0 && x.Opcode == 0x8b && p.isSlot(x) }
	loads := originsPast(held{b, n - 1, in.RM}, calleeSaved, slot, func(pad *Block) []held { return p.thrown(g, pad) })
	for i, a := range loads {
		if h, n := p.inSlot(g.InsnAt(a)); i == 0 {
			f, name = h, n
		} else if h != f || n != name {
			return nil, ""
		}
	}
	return f, name
}

// thrown are the calls that exceptions come out of that land at a pad: Rust's scopes
// catch them, and wait behind that for their threads.
func (p *Program) thrown(g *Graph, pad *Block) (calls []held) {
	for _, b := range g.Blocks {
		for i := range b.Insns {
			if in := &b.Insns[i]; in.Kind.IsCall() && p.Image.LandingOf(in.Addr) == pad.Start {
				calls = append(calls, held{b: b, n: i})
			}
		}
	}
	return calls
}

func (p *Program) isSlot(in *x86.Insn) bool {
	f, name := p.inSlot(in)
	return f != nil || name != ""
}

// inSlot is the function whose address stands in the slot that an instruction reads.
func (p *Program) inSlot(in *x86.Insn) (f *Func, name string) {
	if in.RIPOff == 0 {
		return nil, ""
	}
	if name = p.Image.GOT[in.RIPTarget]; name != "" {
		return nil, name
	}
	if s := p.Image.SectionAt(in.RIPTarget); s == nil || s.Name != ".got" {
		return nil, ""
	}
	to, _ := p.Image.Word(in.RIPTarget)
	return p.FuncAt(to), ""
}

// readsSlots notes what a function's calls through registers enter: who waits for more
// work in a loop may have read into one before it where he waits.
func (d *Dealer) readsSlots(g *Graph) {
	if g.Func.Go {
		return // it has none such
	}
	for _, b := range g.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if c.Known() || c.Insn.HasMem {
				continue
			}
			if f, name := d.p.entered(g, c); f != nil || name != "" {
				d.slots[c.Insn.Addr] = Call{Insn: c.Insn, Callee: f, Import: name, Index: c.Index}
			}
		}
	}
}

// entered is a call with what it enters, as far as that is known.
func (d *Dealer) entered(c *Call) *Call {
	if c.Callee == nil && c.Import == "" {
		if e, known := d.slots[c.Insn.Addr]; known {
			return &e
		}
	}
	return c
}
