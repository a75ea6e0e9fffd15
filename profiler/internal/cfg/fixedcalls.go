package cfg

import (
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Code of the large model, which may lie anywhere, calls even what it knows through a
// register:
//
//	movabs $work, %rbx   …   call *%rbx
//
// That is a call of that function. Compilers know it, too, and keep values in whatever
// registers it leaves alone (-fipa-ra): none is free there, as they are where anybody
// may be called.

// fix tells the graph's calls through registers what they call, where that was written
// there.
func (m *maker) fix() {
	g := m.g
	for i := range g.Code {
		g.Large = g.Large || m.p.large(&g.Code[i])
	}
	for _, b := range g.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if in := c.Insn; !c.Known() && !in.HasMem {
				n := len(b.Insns) - 1
				for b.Insns[n].Addr != in.Addr {
					n--
				}
				c.Callee = m.p.written(g, held{b, n - 1, in.RM})
			}
		}
	}
}

// large: an instruction has a function's address in 64 bits, its own or how far it is from
// the global offset table.
func (p *Program) large(in *x86.Insn) bool {
	if in.Vex != 0 || in.Map != 0 || in.Opcode&^7 != 0xb8 || in.Rex&8 == 0 {
		return false
	}
	at := uint64(in.Imm)
	return p.calls(at) || p.got != 0 && p.calls(p.got+at)
}

// offsets is where an image's global offset table is; 0: it has none.
func offsets(im *image.Image) (at uint64) {
	for i := range im.Sections {
		if s := &im.Sections[i]; s.Name == ".got.plt" || s.Name == ".got" {
			at = s.Addr
		}
	}
	return at
}

// calls: a function begins at an address, or what the linker put there for one.
func (p *Program) calls(at uint64) bool { return p.FuncAt(at) != nil || p.Image.PLT[at] != "" }

// written is the function of whose address, written there, a register holds a copy.
func (p *Program) written(g *Graph, at held) (f *Func) {
	kept := x86.AllRegs &^ (x86.RAX.Set() | x86.RDX.Set()) // who reads one behind a call knows that it is as it was
	for i, a := range origins(at, kept, func(in *x86.Insn) bool { return p.address(in) != nil }) {
		h := p.address(g.InsnAt(a))
		if i > 0 && h != f {
			return nil
		}
		f = h
	}
	return f
}

// address is the function whose address an instruction loads, as it stands there.
func (p *Program) address(in *x86.Insn) *Func {
	switch {
	case in.Vex != 0 || in.Map != 0:
	case in.Opcode&^7 == 0xb8:
		return p.FuncAt(uint64(in.Imm))
	case in.Opcode == 0x8d && in.RIPOff > 0:
		return p.FuncAt(in.RIPTarget)
	}
	return nil
}
