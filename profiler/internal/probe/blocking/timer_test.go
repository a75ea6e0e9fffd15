package blocking

import (
	"encoding/binary"
	"math"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// timed runs timer for a futex that was waited on from 1 to now, in a thread whose stack
// begins so many bytes above the stack pointer of who made the call, and returns its
// records and what of OffQuiet is left.
func timed(t *testing.T, now, top uint64, quiet uint32) (waits []Wait, left uint32) {
	t.Helper()
	const begin, number, redZone = 0xe0, 0xe8, 128 // which stub.S leaves
	l := threadarea.NewLayout([]threadarea.Function{{Chords: 5, Always: true}}, 0)
	mem := make([]byte, 2*l.Size()+8192)
	common := threadarea.NewCommon(l, mem[l.Size():], probetest.MemoryAt+l.Size())
	area := threadarea.New(common, mem, probetest.MemoryAt, threadarea.Never, 1000, 0)
	sp := 2*l.Size() + 4096
	area.SetTop(probetest.MemoryAt + sp + top)
	for at := sp; at < uint64(len(mem)); at += 8 {
		binary.LittleEndian.PutUint64(mem[at:], at-sp)
	}
	a := asm.New(probetest.CodeAt)
	a.Raw(timer...)
	a.MovGS32(begin, 1)
	a.MovGS32(number, syscall.SYS_FUTEX)
	a.MovGS32(threadarea.OffQuiet, quiet)
	a.CallTo(probetest.CodeAt)
	in := probetest.State{Memory: mem}
	in.Regs[x86.RSP], in.Regs[x86.RCX] = probetest.MemoryAt+sp-redZone, now
	out, sig := probetest.Run(t, a.Bytes(), len(timer), in)
	if a.Err() != nil || sig != 0 {
		t.Fatal(a.Err(), sig)
	}
	copy(mem, out.Memory)
	area.Records(func(r record.Record) {
		if w := Parse(r.Raw); w.End != now || w.Begin != 1 || w.Regs[7] != probetest.MemoryAt+sp {
			t.Errorf("recorded %d to %d, at %#x", w.Begin, w.End, w.Regs[7])
		} else {
			waits = append(waits, w)
		}
	})
	return waits, binary.LittleEndian.Uint32(mem[threadarea.OffQuiet:])
}

// TestTimerStack: a record has what there is of the stack, no more than 256 words, and
// all of these where the thread is on another one.
func TestTimerStack(t *testing.T) {
	for top, want := range map[uint64]int{0: 0, 8: 1, 80: 10, 88: 11, 255 * 8: 255, 257 * 8: 256, 1 << 20: 256, math.MaxUint64 - 4095: 256} {
		waits, _ := timed(t, 5000, top, 0)
		if len(waits) != 1 {
			t.Fatalf("%d records", len(waits))
		}
		stack := waits[0].Stack
		if len(stack) != 8*want {
			t.Errorf("%d bytes below the stack's beginning: %d words, want %d", top, len(stack)/8, want)
		}
		for i := range len(stack) / 8 {
			if w := binary.LittleEndian.Uint64(stack[8*i:]); w != uint64(8*i) {
				t.Errorf("word %d is %#x", i, w)
			}
		}
	}
}

// TestTimerQuiet: what blocks below where others are waited for is not recorded; that it
// was long is told.
func TestTimerQuiet(t *testing.T) {
	l := threadarea.NewLayout([]threadarea.Function{{Chords: 5, Always: true}}, 0)
	sp := uint32(probetest.MemoryAt + 2*l.Size() + 4096)
	for _, c := range []struct {
		now         uint64
		quiet, left uint32
		waits       int
	}{
		{5000, 0, 0, 1},
		{5000, sp - 4096, sp - 4096, 1}, // who set it has been left by a jump
		{5000, sp + 4096, sp + 4096, 1}, // it is a handler
		{5000, sp, sp + 1, 0},
		{5000, sp + 1, sp + 1, 0},
		{900, sp, sp, 0}, // it woke others
		{900, sp + 1, sp + 1, 0},
	} {
		waits, left := timed(t, c.now, 64, c.quiet)
		if len(waits) != c.waits || left != c.left {
			t.Errorf("until %d, quiet below %#x: %d records, and %#x is left", c.now, c.quiet, len(waits), left)
		}
		if is := Quiet(uint64(sp), c.quiet); is != (c.waits == 0) {
			t.Errorf("below %#x: quiet is %v", c.quiet, is)
		}
	}
}
