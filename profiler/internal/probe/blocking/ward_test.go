package blocking

import (
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestWard: only who makes one of the ranges writable stops; others go on behind the
// instruction, whose work was done.
func TestWard(t *testing.T) {
	const page = 4096
	list := [][2]uint64{{16 * page, 18 * page}, {32 * page, 33 * page}}
	many := make([][2]uint64, WardSize)
	for name, c := range map[string]struct {
		ranges              [][2]uint64
		addr, size, protect uint64
		stops               bool
	}{
		"before":            {list, 15 * page, page, 3, false},
		"up to its middle":  {list, 15 * page, page + 1, 3, true},
		"the first":         {list, 16 * page, page, 7, true},
		"between":           {list, 18 * page, 14 * page, 2, false},
		"the second":        {list, 32 * page, 1, 2, true},
		"around both":       {list, page, 99 * page, 3, true},
		"behind":            {list, 33 * page, page, 3, false},
		"not writable":      {list, 16 * page, page, 5, false},
		"nothing":           {list, 16 * page, page, 0, false},
		"no ranges":         {nil, 16 * page, page, 3, false},
		"too many ranges":   {many, 16 * page, page, 3, true},
		"as many as can be": {many[:200], 16 * page, page, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWard(probetest.CodeAt, probetest.CodeAt+WardSize)
			code, jump := w.Code()
			ranges, at := w.Ranges(c.ranges)
			copy(code[at-probetest.CodeAt:], ranges)
			code = append(code, jump[:]...)
			in := probetest.State{Memory: make([]byte, page)}
			in.Regs[x86.RDI], in.Regs[x86.RSI], in.Regs[x86.RDX], in.Regs[x86.RSP] = c.addr, c.size, c.protect, probetest.MemoryAt+page/2
			out, sig := probetest.Run(t, code, WardSize, in)
			if stops := sig == syscall.SIGTRAP; stops != c.stops || !stops && sig != 0 {
				t.Fatalf("signal %v", sig)
			}
			if c.stops {
				return
			}
			if uint32(out.Regs[x86.RAX]) != 10 {
				t.Errorf("rax is %#x", out.Regs[x86.RAX])
			}
			for _, r := range []x86.Reg{x86.RDI, x86.RSI, x86.RDX, x86.RSP} {
				if out.Regs[r] != in.Regs[r] {
					t.Errorf("%v is %#x, and was %#x", r, out.Regs[r], in.Regs[r])
				}
			}
		})
	}
	w := NewWard(page, 3*page)
	if !w.Trapped(page+wardTrapped) || w.Trapped(page) || !w.Holds(page) || w.Holds(2*page) || (Ward{}).Holds(0) || (Ward{}).Trapped(wardTrapped) {
		t.Error("it is elsewhere")
	}
	if to, n := asm.JumpTarget(ward[wardBack-1:], page); n != asm.JumpLen || to != page+asm.JumpLen {
		t.Error("it goes back by no jump")
	}
}
