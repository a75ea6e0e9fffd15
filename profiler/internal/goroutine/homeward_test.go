package goroutine

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Where the test has moved code: a return address with a way home, one without, and the
// first byte behind it.
const (
	copies  = probetest.CodeAt + 0x2000
	leads   = copies + 0x10
	stays   = copies + 0x40
	outside = copies + 0x100
	home    = 0x401234
)

// routine runs one of switch.S with words of memory, and returns these and the registers.
func routine(t *testing.T, word int, regs map[x86.Reg]uint64, words []uint64) ([]uint64, [16]uint64) {
	t.Helper()
	a := asm.New(probetest.CodeAt)
	a.Raw(switches...)
	for i, v := range map[int]uint64{wordCopies: copies, wordCopiesSize: outside - copies, wordReturn: 8, wordFrame: 16} {
		binary.LittleEndian.PutUint64(a.Bytes()[8*i:], v)
	}
	a.Nop(int(leads - a.PC()))
	a.Home(home)
	a.Nop(int(outside - a.PC()))
	a.Home(home)
	start := a.Len()
	a.CallTo(probetest.CodeAt + word64(switches, word))
	in := probetest.State{Memory: make([]byte, 4096)}
	for i, v := range words {
		binary.LittleEndian.PutUint64(in.Memory[8*i:], v)
	}
	for r := range in.Regs {
		in.Regs[r] = uint64(0x1000 + r)
	}
	for r, v := range regs {
		in.Regs[r] = v
	}
	in.Regs[x86.RSP] = probetest.MemoryAt + 4096
	out, sig := probetest.Run(t, a.Bytes(), start, in)
	if sig != 0 {
		t.Fatal(sig)
	}
	got := make([]uint64, len(words))
	for i := range got {
		got[i] = binary.LittleEndian.Uint64(out.Memory[8*i:])
	}
	for _, r := range []x86.Reg{x86.RAX, x86.RCX, x86.RDI, x86.RSI, x86.R8, x86.R14, x86.RBP, x86.RSP} { // the arguments that any of them has, and what is nobody's
		if word != wordNext && r != x86.R8 && word != wordExpand22 && out.Regs[r] != in.Regs[r] {
			t.Errorf("register %d was %#x and is %#x", r, in.Regs[r], out.Regs[r])
		}
	}
	return got, out.Regs
}

// TestHomeward: where the runtime looks at return addresses it sees the original ones,
// and what is none of a call in moved code stays as it is.
func TestHomeward(t *testing.T) {
	for _, x := range []struct{ ret, want uint64 }{{leads, home}, {stays, stays}, {outside, outside}, {copies - 1, copies - 1}, {0, 0}, {home, home}} {
		// A walk: the runtime.unwinder, then the stack.
		const frame = probetest.MemoryAt + 48
		got, regs := routine(t, wordNext, map[x86.Reg]uint64{x86.RAX: probetest.MemoryAt}, []uint64{1, x.ret, frame, 3, 4, x.ret, x.ret})
		if want := []uint64{1, x.want, frame, 3, 4, x.want, x.ret}; !slices.Equal(got, want) || regs[x86.RAX] != probetest.MemoryAt {
			t.Errorf("next of %#x: %#x, want %#x", x.ret, got, want)
		}
		if _, regs := routine(t, wordBegin, map[x86.Reg]uint64{x86.RBX: x.ret}, nil); regs[x86.RBX] != x.want {
			t.Errorf("begin at %#x: %#x, want %#x", x.ret, regs[x86.RBX], x.want)
		}
		// Frame pointers and return addresses.
		got, _ = routine(t, wordFollow, map[x86.Reg]uint64{x86.RBX: probetest.MemoryAt}, []uint64{probetest.MemoryAt + 24, x.ret, x.ret, 0, x.ret, x.ret})
		if want := []uint64{probetest.MemoryAt + 24, x.want, x.ret, 0, x.want, x.ret}; !slices.Equal(got, want) {
			t.Errorf("follow to %#x: %#x, want %#x", x.ret, got, want)
		}
		for word, regs := range map[int]map[x86.Reg]uint64{wordExpand: {x86.RDI: probetest.MemoryAt, x86.RSI: 2}, wordExpand22: {x86.RAX: probetest.MemoryAt, x86.RBX: 2}} {
			if got, _ = routine(t, word, regs, []uint64{7, x.ret, x.ret}); !slices.Equal(got, []uint64{7, x.want, x.ret}) {
				t.Errorf("expand of %#x: %#x", x.ret, got)
			}
		}
	}
	routine(t, wordFollow, map[x86.Reg]uint64{x86.RBX: 0}, nil)
	routine(t, wordExpand, map[x86.Reg]uint64{x86.RSI: 0}, nil)
	const frame = probetest.MemoryAt + 48
	if got, _ := routine(t, wordNext, map[x86.Reg]uint64{x86.RAX: probetest.MemoryAt}, []uint64{1, leads, frame, 3, 4, 5}); got[5] != 5 || got[1] != home {
		t.Errorf("what is not where the frame returns to became %#x", got)
	}
}
