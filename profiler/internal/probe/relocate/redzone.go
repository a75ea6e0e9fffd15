package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// spareRedZone is how many of the lowest words of a function's red zone, up to three,
// have nothing of its own. A function that calls has no red zone: what it calls overwrites it.
// One that does not call may have some of what is its own there, and is believed
// to have it where it says so; but not when it takes an address on the stack, as
// it may go on from that to anywhere in the same object.
func spareRedZone(g *cfg.Graph) (words int) {
	taken, lowest := false, int32(3*8-redZone)
	for _, b := range g.Blocks {
		for k := range b.Insns {
			in := &b.Insns[k]
			if m := &in.Mem; in.HasMem && m.Base == x86.RSP {
				lowest = min(lowest, m.Disp)
			}
			taken = taken || takesStack(in)
		}
	}
	if g.Calls == 0 && taken {
		return 0
	}
	return int(max(0, lowest+redZone) / 8)
}

// takesStack reports whether an instruction may take an address on the stack.
func takesStack(in *x86.Insn) bool {
	if in.Use&x86.RSP.Set() == 0 || in.Kind != x86.Normal {
		return false
	}
	if m := &in.Mem; in.HasMem && m.Base == x86.RSP {
		isLea := in.Map == 0 && in.Vex == 0 && in.Opcode == 0x8d
		return m.Index != x86.None || isLea && in.Reg != x86.RSP || !isLea && in.Reg == x86.RSP
	}
	_, r := constant(in)
	return r != x86.RSP
}
