package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// ImportOfCall returns the GOT slot through which a call of the program leads
// to a function that only the dynamic linker knows, as a link-time address.
func (s *Spec) ImportOfCall(c *cfg.Call) (slot uint64, ok bool) {
	if c.Callee != nil {
		return 0, false
	}
	return s.slotOf(c.Insn)
}

// ImportOfJump is ImportOfCall for the jump that ends a block.
func (s *Spec) ImportOfJump(b *cfg.Block) (slot uint64, ok bool) {
	if b.Last().Kind.IsCall() {
		return 0, false // that never comes back
	}
	return s.slotOf(b.Last())
}

// slotOf returns the slot behind the stub that an instruction names, or that
// it names itself.
func (s *Spec) slotOf(in *x86.Insn) (slot uint64, ok bool) {
	im := s.Program.Image
	if in.Kind == x86.CallInd || in.Kind == x86.JmpInd {
		return in.RIPTarget, in.RIPOff > 0 && im.GOT[in.RIPTarget] != ""
	}
	if im.PLT[in.Target] == "" {
		return 0, false
	}
	stub, ok := image.ReadStub(im.Bytes(in.Target), in.Target)
	return stub.Slot, ok
}
