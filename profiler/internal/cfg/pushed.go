package cfg

import "github.com/skewlens/skewlens/profiler/internal/x86"

// OCaml keeps where an exception is handled on the stack, and returns there to raise it:
//
//	lea handler(%rip), r; push r; push 0x10(%r14); mov %rsp, 0x10(%r14)     mov 0x10(%r14), %rsp; pop 0x10(%r14); ret
//
// Nothing else leads to the handler, so that what stands there is not known to be code. It
// would be come to in the original function, and jump from there into what springboards
// stand in. So who puts the address of a label of its own on the stack stays as it is.

// pushed returns the label of a function that the i-th of its decoded instructions, and the
// one behind it, put on the stack.
func (d *decoder) pushed(i int) (label uint64, is bool) {
	in := &d.s.insns[i]
	if in.Map == 0 && in.Vex == 0 && in.Opcode == 0x68 && !d.p.Image.Relocatable { // push $label
		a := uint64(in.Imm)
		return a, a != d.f.Ranges[0].Lo && d.f.In(a)
	}
	if label, is = d.p.labelOf(in, d.f); !is || i+1 == len(d.s.insns) {
		return 0, false
	}
	next := &d.s.insns[i+1]
	return label, next.Addr == in.End() && pushes(next) && next.Use&in.Def != 0
}

// pushes reports whether an instruction puts a register on the stack.
func pushes(in *x86.Insn) bool { return in.Map == 0 && in.Vex == 0 && in.Opcode&^7 == 0x50 }
