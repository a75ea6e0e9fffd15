package relocate

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestCountingKeepsFlags runs the counter of places where flags are live, for
// all flags: it counts, and nothing else changes but what lies below the red
// zone.
func TestCountingKeepsFlags(t *testing.T) {
	m := &emitter{Assembler: asm.New(probetest.CodeAt), s: &Spec{}}
	m.increment(3, x86.AllFlags, func() {})
	off := threadarea.CounterOffset(3)
	for f := range x86.AllFlags + 1 {
		in := probetest.State{Flags: f, Memory: bytes.Repeat([]byte{0xee}, 4096)}
		for r := range in.Regs {
			in.Regs[r] = 0x0123456789abcdef * uint64(r+1)
		}
		top := uint64(2048)
		in.Regs[x86.RSP] = probetest.MemoryAt + top
		got, sig := probetest.Run(t, m.Bytes(), 0, in)
		if sig != 0 {
			t.Fatal(sig)
		}
		want := slices.Clone(in.Memory)
		want[off]++
		copy(want[top-128-8:top-128], got.Memory[top-128-8:])
		if got.Regs != in.Regs || got.Flags != f || !bytes.Equal(got.Memory, want) {
			t.Errorf("flags %b become %b, registers %x %x", f, got.Flags, in.Regs, got.Regs)
		}
	}
}

type call struct {
	site   int32
	target uint32
}

// assembled is what was emitted in a scope, with what was put off and what behind emits
// after it, which control passes by.
func assembled(t *testing.T, m *emitter, layout threadarea.Layout, behind func()) []byte {
	t.Helper()
	end := m.Labels(1)
	m.Jmp(end)
	for i := 0; i < len(m.later); i++ {
		m.later[i]()
	}
	behind()
	m.Bind(end)
	m.EndScope()
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
	return linked(&Code{Bytes: m.Bytes(), sites: packSites(m.siteRefs)}, layout)
}

// TestIndirectTargetsAreCounted runs what counts the targets of an indirect
// call, with the recorder behind it: every target gets its count, be it one of
// the two in line or not.
func TestIndirectTargetsAreCounted(t *testing.T) {
	layout := threadarea.NewLayout([]threadarea.Function{{Chords: 10, Sites: 4, Always: true}}, 0)
	m := &emitter{Assembler: asm.New(probetest.CodeAt), cache: probetest.CodeAt, s: &Spec{}}
	m.Raw(threadarea.Recorder...)
	in, err := x86.Decode([]byte{0xff, 0xd3}, 0x1000) // call *%rbx
	if err != nil {
		t.Fatal(err)
	}
	gs, err := x86.Decode([]byte{0x65, 0xff, 0x13}, 0x1000) // call *%gs:(%rbx)
	if err != nil {
		t.Fatal(err)
	}
	var calls []call
	random := rand.New(rand.NewPCG(1, 2))
	for _, to := range []uint32{0x1000, 0x2000, 0x1000, 0x3000, 0x3000, 0x2000, 0x1000, 0x4000} {
		calls = append(calls, call{2, to})
	}
	for range 360 { // so many that they meet in the table, of two sites
		calls = append(calls, call{random.Int32N(2), 16 + 16*random.Uint32N(150)})
	}
	m.BeginScope()
	for _, c := range calls {
		m.MovImm32(x86.RBX, c.target)
		m.countTarget(&in, c.site, true, none)
		if m.countTarget(&in, -1, true, none) || m.countTarget(&gs, 3, true, none) {
			t.Fatal("what is not counted is found")
		}
	}
	code := assembled(t, m, layout, func() {})

	common := threadarea.NewCommon(layout, make([]byte, layout.Size()), 0)
	mem := make([]byte, layout.Size()+4096)
	area := threadarea.New(common, mem, probetest.MemoryAt, 0, 1<<62, 0)
	state := probetest.State{Memory: mem}
	state.Regs[x86.RSP] = probetest.MemoryAt + layout.Size() + 4000
	out, sig := probetest.Run(t, code, len(threadarea.Recorder), state)
	if sig != 0 {
		t.Fatal(sig)
	}
	copy(mem, out.Memory)
	want, got := map[call]uint64{}, map[call]uint64{}
	for _, c := range calls {
		want[c]++
	}
	for _, d := range area.All() {
		site, target := area.Target(d.Counter)
		got[call{int32(site), uint32(target)}] += d.N
	}
	if !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

// TestCallsGoToCopies: whoever calls one of a site's two targets again goes where
// the springboard there leads; what does not lead out of the text is none.
func TestCallsGoToCopies(t *testing.T) {
	const text, copied = probetest.CodeAt + 0x3000, probetest.CodeAt + 0x3800
	layout := threadarea.NewLayout([]threadarea.Function{{Chords: 10, Sites: 4, Always: true}}, 0)
	m := &emitter{Assembler: asm.New(probetest.CodeAt), cache: probetest.CodeAt, s: &Spec{}}
	m.Raw(threadarea.RecorderOf(text-probetest.CodeAt, 0x400)...)
	in, err := x86.Decode([]byte{0xff, 0xd3}, 0x1000) // call *%rbx
	if err != nil {
		t.Fatal(err)
	}
	calls := []struct {
		site     int32
		to, goes uint32
	}{
		{0, text, copied}, {0, text + 16, text + 16}, {0, text, copied}, {0, text + 16, text + 16}, // a springboard, a jump inside of the text
		{1, text + 32, text + 32}, {1, 0x400000, 0x400000}, {1, text + 32, text + 32}, {1, 0x400000, 0x400000}, // no jump, not mapped
		{2, text + 0x3fb, text + 0x3fb}, {2, text, copied}, {2, text, copied}, // at the end of the text
		{3, 0, 0}, {3, 0, 0}, {3, text, copied}, {3, text, copied},
	}
	first := map[call]bool{}
	m.BeginScope()
	for i, c := range calls {
		m.MovImm32(x86.RBX, c.to)
		if !m.countTarget(&in, c.site, true, none) {
			t.Fatal("not counted")
		}
		if at := (call{c.site, c.to}); first[at] {
			m.SaveRSP(8*int32(i), x86.R11)
		} else {
			first[at] = true // it may go by the original
		}
	}
	code := assembled(t, m, layout, func() {
		for _, j := range [][2]uint64{{text, copied}, {text + 16, text + 48}, {text + 0x3fb, copied}} {
			m.Nop(int(j[0]-probetest.CodeAt) - m.Len())
			b := asm.Jump(j[0], j[1])
			m.Raw(b[:]...)
		}
	})
	common := threadarea.NewCommon(layout, make([]byte, layout.Size()), 0)
	mem := make([]byte, layout.Size()+4096)
	threadarea.New(common, mem, probetest.MemoryAt, 0, 1<<62, 0)
	state := probetest.State{Memory: mem}
	state.Regs[x86.RSP] = probetest.MemoryAt + layout.Size() + 2048
	out, sig := probetest.Run(t, code, len(threadarea.Recorder), state)
	if sig != 0 {
		t.Fatal(sig)
	}
	seen := map[call]bool{}
	for i, c := range calls {
		got := binary.LittleEndian.Uint64(out.Memory[layout.Size()+2048+8*uint64(i):])
		if at := (call{c.site, c.to}); seen[at] && got != uint64(c.goes) {
			t.Errorf("call %d of %#x goes to %#x, want %#x", i, c.to, got, c.goes)
		} else {
			seen[at] = true
		}
	}
}

// TestGoroutinesGoToCopies: a goroutine that calls what it has called from there before
// goes to where the springboard there leads, and no argument is lost.
func TestGoroutinesGoToCopies(t *testing.T) {
	layout := threadarea.NewLayout([]threadarea.Function{{Chords: 10, Sites: 4, Always: true}}, 0)
	program := &cfg.Program{Image: &image.Image{Go: &image.GoTable{}}}
	in, err := x86.Decode([]byte{0xff, 0xd3}, 0x1000) // call *%rbx
	if err != nil {
		t.Fatal(err)
	}
	m := &emitter{Assembler: asm.New(probetest.CodeAt), cache: probetest.CodeAt, s: &Spec{Program: program}, q: &Plan{Func: &cfg.Func{Go: true}}}
	m.Raw(threadarea.RecorderOf(int32(len(threadarea.Recorder)), 24)...)
	moved, stays := m.PC(), m.PC()+asm.JumpLen
	m.JmpTo(moved + 0x30)
	m.Nop(3)
	start := m.Len()
	m.BeginScope()
	for k, reg := range []x86.Reg{x86.RSI, x86.RDI, x86.R8, x86.R9} {
		m.MovImm64(x86.RBX, []uint64{moved, stays}[k%2])
		if m.countTarget(&in, 2, true, none) {
			t.Fatal("r11 is where to go, which may hold an argument")
		}
		m.Mov(reg, x86.RBX, true)
	}
	code := assembled(t, m, layout, func() {})
	common := threadarea.NewCommon(layout, make([]byte, layout.Size()), 0)
	mem := make([]byte, layout.Size()+4096)
	area := threadarea.New(common, mem, probetest.MemoryAt, 0, 1<<62, 0)
	state := probetest.State{Memory: mem}
	state.Regs[x86.RSP], state.Regs[x86.R11] = probetest.MemoryAt+layout.Size()+4000, 0x1234
	out, sig := probetest.Run(t, code, start, state)
	if sig != 0 {
		t.Fatal(sig)
	}
	want := [4]uint64{moved, stays, moved + 0x30, stays}
	if got := [4]uint64{out.Regs[x86.RSI], out.Regs[x86.RDI], out.Regs[x86.R8], out.Regs[x86.R9]}; got != want {
		t.Errorf("goes to %#x, want %#x", got, want)
	}
	if out.Regs[x86.R11] != 0x1234 {
		t.Errorf("an argument in r11 became %#x", out.Regs[x86.R11])
	}
	copy(mem, out.Memory)
	for _, d := range area.All() {
		if d.N != 2 {
			t.Errorf("counted %v", area.All())
		}
	}
}
