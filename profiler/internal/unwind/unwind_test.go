package unwind

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// stopped is a thread of testdata/stack.c that has trapped in stop().
type stopped struct {
	p     *tracee.Process
	regs  Regs
	maps  []Mapping
	bias  uint64
	syms  []elf.Symbol
	trace []uint64 // what the C library's unwinder found: stop()'s callers, innermost first
}

var flavours = []struct{ name, compiler, flags string }{
	{"O2", "gcc", "-O2 -fomit-frame-pointer"},
	{"O0", "gcc", "-O0"},
	{"frame-pointer", "gcc", "-O2 -fno-omit-frame-pointer"},
	{"static", "gcc", "-O2 -static"},
	{"no-pie", "gcc", "-O1 -no-pie"},
	{"clang", "clang", "-O2 -fuse-ld=lld"},
}

// chains are the functions that each kind of stack has, innermost first, up to
// main or the thread's function. "…" stands for frames of libraries.
var chains = map[string]string{
	"chain":     "stop inner middle outer main",
	"dynamic":   "stop inner middle outer dynamic main",
	"aligned":   "stop inner middle outer dynamic aligned main",
	"busy":      "stop inner middle outer busy main",
	"recursive": "stop inner middle outer " + strings.Repeat("recursive ", 101) + "main",
	"last":      "stop leaves last_call main",
	"callback":  "stop inner middle outer compare … callback main",
	"signal":    "stop inner middle outer handler … faults signalled main",
	"altstack":  "stop inner middle outer handler … faults signalled main",
	"thread":    "stop inner middle outer thread",
}

// TestStack walks real stacks: of known chains of calls, and as the C library walks them.
func TestStack(t *testing.T) {
	for _, f := range flavours {
		t.Run(f.name, func(t *testing.T) {
			prog := proctest.Build(t, f.compiler, append(strings.Fields(f.flags), "-fno-optimize-sibling-calls", "-pthread", "-fasynchronous-unwind-tables", "testdata/stack.c")...)
			for kind, want := range chains {
				t.Run(kind, func(t *testing.T) {
					s := stop(t, prog, kind)
					u := New(s.p)
					u.SetMappings(s.maps)
					frames, complete := u.Stack(s.regs)
					if !complete {
						t.Error("the walk ended before the first frame")
					}
					if got := s.names(frames, f.name == "static"); !strings.HasPrefix(got+" ", want+" ") {
						t.Errorf("the frames are of %s, want %s", got, want)
					}
					s.compare(t, kind, frames)
					i := slices.IndexFunc(frames[1:], func(x Frame) bool { return x.Regs != nil })
					if under, apart, ok := u.Signalled(s.regs); ok != (i >= 0) || ok && under != *frames[1+i].Regs || apart != (kind == "altstack") {
						t.Errorf("without tables a signal came to %x (%v), apart %v", under, ok, apart)
					}
				})
			}
		})
	}
}

// compare compares with what the C library found: the same addresses.
func (s *stopped) compare(t *testing.T, kind string, frames []Frame) {
	t.Helper()
	var pcs []uint64
	interrupted := 0
	for _, x := range frames[1:] {
		pcs = append(pcs, x.PC)
		if !x.Called {
			interrupted++
		}
	}
	want := 0
	if kind == "signal" || kind == "altstack" {
		want = 1
	}
	if interrupted != want {
		t.Errorf("%d frames are said to be interrupted, want %d", interrupted, want)
	}
	// It may end where the C library does not know where a thread begins.
	if n := min(len(pcs), len(s.trace)); n < len(s.trace)-1 || n < len(pcs)-1 || !slices.Equal(pcs[:n], s.trace[:n]) {
		t.Errorf("return addresses %#x, of the C library %#x", pcs, s.trace)
	}
}

// stop runs a program up to its trap.
func stop(t *testing.T, prog, kind string) *stopped {
	t.Helper()
	runtime.LockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p, err := tracee.Start(tracee.Command{Path: prog, Args: []string{prog, kind}, Env: os.Environ(), Files: [3]uintptr{null.Fd(), null.Fd(), null.Fd()}})
	if errors.Is(err, tracee.ErrForbidden) {
		runtime.UnlockOSThread()
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(p.Pid, syscall.SIGKILL)
		for e, err := p.Wait(); err == nil; e, err = p.Wait() {
			p.Resume(e)
		}
		p.Close()
		runtime.UnlockOSThread()
	})
	if err := p.Go(); err != nil {
		t.Fatal(err)
	}
	for {
		e, err := p.Wait()
		if err != nil {
			t.Fatalf("%s %s ended without a trap: %v", prog, kind, err)
		}
		if e.Kind == tracee.Trap {
			return read(t, p, e.Tid, prog)
		}
		if err := p.Resume(e); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, p *tracee.Process, tid int, prog string) *stopped {
	s := &stopped{p: p}
	regs, err := p.DwarfRegs(tid)
	if err != nil {
		t.Fatal(err)
	}
	s.regs = regs
	ms, err := p.Mappings()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		if m.Exec && m.Path != "" {
			s.maps = append(s.maps, Mapping{m.Lo, m.Hi, m.Offset, m.Path})
		}
	}
	f, err := elf.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s.syms, err = f.Symbols(); err != nil {
		t.Fatal(err)
	}
	entry, err := p.Entry()
	if err != nil {
		t.Fatal(err)
	}
	s.bias = entry - f.Entry
	n, err := p.Word(s.bias + s.symbol(t, "frames"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < int(uint32(n)); i++ { // the first is in stop() itself
		a, err := p.Word(s.bias + s.symbol(t, "trace") + uint64(8*i))
		if err != nil {
			t.Fatal(err)
		}
		s.trace = append(s.trace, a)
	}
	return s
}

func (s *stopped) symbol(t *testing.T, name string) uint64 {
	for i := range s.syms {
		if s.syms[i].Name == name {
			return s.syms[i].Value
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

// names are the functions of frames, those of libraries together as "…". In a
// static program the library's own functions have names too.
func (s *stopped) names(frames []Frame, static bool) string {
	own := strings.Fields("stop inner middle outer dynamic aligned busy recursive leaves last_call compare callback handler faults signalled thread main")
	var out []string
	for _, x := range frames {
		pc := x.PC - s.bias
		if x.Called {
			pc--
		}
		name := "…"
		for _, y := range s.syms {
			if elf.ST_TYPE(y.Info) == elf.STT_FUNC && pc >= y.Value && pc < y.Value+y.Size && (!static || slices.Contains(own, y.Name)) {
				name = y.Name
			}
		}
		if name != "…" || len(out) == 0 || out[len(out)-1] != "…" {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// patched is memory some words of which were replaced.
type patched struct {
	Memory
	words map[uint64]uint64
	holes map[uint64]bool
}

func (m *patched) Read(b []byte, addr uint64) error {
	if m.holes[addr] {
		return io.ErrUnexpectedEOF
	}
	if w, ok := m.words[addr]; ok && len(b) == 8 {
		for i := range b {
			b[i] = byte(w >> (8 * i))
		}
		return nil
	}
	return m.Memory.Read(b, addr)
}

// TestOriginal replaces a return address, as moved code has it, and translates
// it back: the stack is the same.
func TestOriginal(t *testing.T) {
	s := stop(t, proctest.Build(t, "gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread", "testdata/stack.c"), "chain")
	const moved = 0xdead0000
	u := New(s.p)
	u.SetMappings(s.maps)
	want, _ := u.Stack(s.regs)
	at := uint64(0)
	for a := s.regs[regSP]; at == 0; a += 8 { // where inner's return address lies
		if w, err := s.p.Word(a); err != nil {
			t.Fatal(err)
		} else if w == want[2].PC {
			at = a
		}
	}
	u = New(&patched{s.p, map[uint64]uint64{at: moved}, nil})
	u.SetMappings(s.maps)
	if frames, complete := u.Stack(s.regs); complete || len(frames) != 3 || frames[2].PC != moved {
		t.Errorf("a return address that nobody knows: %d frames, complete %v", len(frames), complete)
	}
	u.Original = func(pc uint64, interrupted bool) uint64 {
		if pc == moved && !interrupted {
			return want[2].PC
		}
		return pc
	}
	if got, complete := u.Stack(s.regs); !complete || !slices.Equal(got, want) {
		t.Errorf("%d frames, complete %v, want %d", len(got), complete, len(want))
	}
	u = New(&patched{s.p, nil, map[uint64]bool{at: true}})
	u.SetMappings(s.maps)
	if got, complete := u.Stack(s.regs); complete || !slices.Equal(got, want[:2]) {
		t.Errorf("memory that cannot be read: %d frames, complete %v", len(got), complete)
	}
}

// TestMappings: what is not there, or has no table, is no module; the walk ends there.
func TestMappings(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no program\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	paths := []string{filepath.Join(dir, "missing"), text}
	if bare := bareProgram(t, dir); bare != "" {
		paths = append(paths, bare)
	}
	for _, path := range paths {
		u := New(nil)
		u.SetMappings([]Mapping{{0x400000, 0x500000, 0, path}})
		r := Regs{PC: 0x400010}
		if frames, complete := u.Stack(r); complete || len(frames) != 1 || frames[0].PC != r[PC] || len(u.modules) != 0 {
			t.Errorf("%s: %v, complete %v", filepath.Base(path), frames, complete)
		}
		if m := u.files[path]; m == nil || m.err == nil {
			t.Errorf("%s: no error is kept", filepath.Base(path))
		}
	}
}

// bareProgram is a program without an unwind table: Go's own.
func bareProgram(t *testing.T, dir string) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil || f.Section(".eh_frame") != nil { // linked by gcc: with cgo
		return ""
	}
	f.Close()
	return path
}

// words is memory that holds a few.
type words map[uint64]uint64

func (m words) Read(b []byte, addr uint64) error {
	w, ok := m[addr]
	if !ok {
		return io.ErrUnexpectedEOF
	}
	binary.LittleEndian.PutUint64(b, w)
	return nil
}

// TestBridge: where no table tells of code, it may be known how it keeps the return
// address.
func TestBridge(t *testing.T) {
	u := New(words{0x1010: 0x77, 0x2000: 0x3000, 0x2008: 0x88})
	r := Regs{regSP: 0x1000, regBP: 0x2000, regPC: 0x55}
	for _, c := range []struct {
		byRBP bool
		above int64
		known bool
		want  Regs
		ok    bool
	}{
		{false, 16, true, Regs{regSP: 0x1018, regBP: 0x2000, regPC: 0x77}, true},
		{true, 8, true, Regs{regSP: 0x2010, regBP: 0x3000, regPC: 0x88}, true},
		{false, 24, true, Regs{}, false},
		{false, 16, false, Regs{}, false},
	} {
		u.Bridge = func(pc uint64) (bool, int64, bool) { return c.byRBP, c.above, c.known && pc == 0x55 }
		if got, ok := u.cross(r); ok != c.ok || ok && got != c.want {
			t.Errorf("%+v: %v, %v", c, got, ok)
		}
	}
	u.Bridge = func(uint64) (bool, int64, bool) { return false, 16, true }
	u.Original = func(pc uint64, _ bool) uint64 { return pc + 1 }
	if frames, complete := u.Stack(r); complete || len(frames) != 2 || frames[1] != (Frame{PC: 0x78, Called: true}) {
		t.Errorf("%v, complete %v", frames, complete)
	}
	u.Bridge = nil
	if frames, complete := u.Stack(r); complete || len(frames) != 1 {
		t.Errorf("%v, complete %v", frames, complete)
	}
}
