package cfg

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// find returns a function of a program by its name.
func find(t *testing.T, p *Program, name string) *Func {
	t.Helper()
	for _, f := range p.Funcs {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

// TestUnpackIsBuild writes what Build found out and reads it back: the
// functions and their graphs are the same.
func TestUnpackIsBuild(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.s")
	for _, file := range files {
		p, l := readSource(t, file).build(t)
		var w pack.Writer
		p.Pack(&w)
		q, err := Unpack(&pack.Reader{B: w.B}, p.Image, p.catches, p.all[1:]...)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		// The functions that a function reaches are asked for before they are kept.
		got, want := strings.Join(describe(q, l), "\n"), withoutReaches(strings.Join(describe(p, l), "\n"))
		if got != want {
			t.Errorf("%s: unpacked it is\n%s\nand was\n%s", file, got, want)
		}
		for _, f := range p.Funcs {
			for a := f.Ranges[0].Lo; a < f.Ranges[0].Hi; a++ {
				if x, y := p.Owner(a), q.Owner(a); (x == nil) != (y == nil) || x != nil && x.Name != y.Name {
					t.Errorf("%s: %#x belongs to another function when unpacked", file, a)
				}
			}
		}
	}
}

func withoutReaches(s string) string {
	lines := strings.Split(s, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  reaches ") }), "\n")
}

// TestUnpackRefuses gives Unpack the facts of another program, and every
// beginning of the right ones.
func TestUnpackRefuses(t *testing.T) {
	p, _ := readSource(t, "testdata/flow.s").build(t)
	other, _ := readSource(t, "testdata/calls.s").build(t)
	var w pack.Writer
	p.Pack(&w)
	if _, err := Unpack(&pack.Reader{B: w.B}, other.Image, other.catches); err == nil {
		t.Error("the facts of another program are taken")
	}
	for n := range w.B {
		if _, err := Unpack(&pack.Reader{B: w.B[:n]}, p.Image, p.catches); err == nil {
			t.Errorf("the first %d of %d bytes are taken", n, len(w.B))
		}
	}
}

// TestFind looks blocks, instructions, calls and functions up by address.
func TestFind(t *testing.T) {
	p, _ := readSource(t, "testdata/calls.s").build(t)
	f := find(t, p, "calls_known")
	entry := f.Ranges[0].Lo
	g := p.Graph(f, nil)
	var calls []uint64
	for i := range g.Code {
		in := &g.Code[i]
		if g.InsnAt(in.Addr) != in {
			t.Errorf("instruction at %#x is not found", in.Addr)
		}
		for a := in.Addr; a < in.End(); a++ {
			if b := g.BlockOf(a); b == nil || in.Addr < b.Start || in.End() > b.End {
				t.Errorf("block of %#x is not found", a)
			}
		}
		for a := in.Addr + 1; a < in.End(); a++ {
			if g.InsnAt(a) != nil || g.BlockAt(a) != nil {
				t.Errorf("an instruction or block begins within that at %#x", in.Addr)
			}
		}
		if in.Kind.IsCall() {
			calls = append(calls, in.Addr)
		}
	}
	if g.BlockAt(entry) != g.Entry || g.BlockOf(entry-1) != nil || g.BlockOf(f.Ranges[0].Hi) != nil || g.InsnAt(entry-1) != nil {
		t.Error("the block of the entry, or none outside")
	}
	if p.FuncAt(entry) != f || p.FuncAt(entry+1) != nil || p.Owner(entry+1) != f || p.Owner(0) != nil {
		t.Error("the function is not found by its entry, or by something else")
	}
	if got := p.Calls(f, &Space{}); len(calls) == 0 || !slices.EqualFunc(got, calls, func(in x86.Insn, at uint64) bool { return in.Addr == at }) {
		t.Errorf("%d calls are found, want %d", len(got), len(calls))
	}
	if len(p.Calls(find(t, p, "calls_itself"), &Space{})) != 0 {
		t.Error("a call in a function that was skipped")
	}
	if !p.HasFunc("never") || p.HasFunc("abort") {
		t.Error("HasFunc")
	}
}

// TestTargets asks where indirect jumps go.
func TestTargets(t *testing.T) {
	p, l := readSource(t, "testdata/switch.s").build(t)
	f := find(t, p, "gcc")
	for _, in := range p.Blocks(f, nil).Code {
		targets, ok := f.Targets(in.Addr)
		if ok != (in.Kind == x86.JmpInd) {
			t.Errorf("targets of %s: %v", l.name(in.Addr), ok)
		}
		var names []string
		for _, a := range targets {
			names = append(names, l.name(a))
		}
		if got := strings.Join(names, " "); ok && got != "gcc_a gcc_b gcc_c" {
			t.Errorf("targets %s", got)
		}
	}
}

// TestSummary counts by hand.
func TestSummary(t *testing.T) {
	p, _ := readSource(t, "testdata/fixed.s").build(t)
	moved, total, insns, all := p.Summary()
	if moved != 4 || total != 4 || insns != 9+10+11+1 || all != insns {
		t.Errorf("%d of %d functions, %d of %d instructions", moved, total, insns, all)
	}
	p, _ = readSource(t, "testdata/throws.s").build(t)
	moved, total, insns, all = p.Summary()
	if moved != total-1 || all-insns != find(t, p, "bad_pad").Size()/4 {
		t.Errorf("%d of %d functions, %d of %d instructions: a skipped function has one in four bytes", moved, total, insns, all)
	}
}

// TestSpace makes the same graph in memory that held another one.
func TestSpace(t *testing.T) {
	p, l := readSource(t, "testdata/switch.s").build(t)
	var s Space
	for _, f := range p.Funcs {
		if f.Skip != "" {
			continue
		}
		fresh, again := p.Graph(f, nil), p.Graph(f, &s)
		for i, b := range fresh.Blocks {
			var x, y strings.Builder
			describeBlock(&x, fresh, b, l)
			describeBlock(&y, again, again.Blocks[i], l)
			if x.String() != y.String() {
				t.Errorf("in memory used before %s, fresh %s", y.String(), x.String())
			}
		}
	}
}

// TestLiveAt asks within a block which flags are live.
func TestLiveAt(t *testing.T) {
	p, _ := readSource(t, "testdata/flags.s").build(t)
	b := p.Graph(find(t, p, "across"), nil).Entry // cmp; jmp
	if b.LiveOut != x86.CF|x86.ZF || b.LiveAt(1, b.LiveOut) != b.LiveOut || b.LiveAt(0, b.LiveOut) != 0 || b.LiveAt(2, b.LiveOut) != b.LiveOut {
		t.Errorf("live: %s behind the block, %s before the jump, %s before the comparison",
			flagNames(b.LiveOut), flagNames(b.LiveAt(1, b.LiveOut)), flagNames(b.LiveAt(0, b.LiveOut)))
	}
}

// TestUsesGS asks whole programs.
func TestUsesGS(t *testing.T) {
	for file, want := range map[string]bool{"testdata/flow.s": true, "testdata/calls.s": false} {
		if p, _ := readSource(t, file).build(t); p.UsesGS() != want {
			t.Errorf("%s uses gs: %v", file, !want)
		}
	}
}

// TestImports asks what a program may do, by what it imports.
func TestImports(t *testing.T) {
	for _, c := range []struct {
		imports                string
		unwinds, traces, leaps bool
	}{
		{"read memcpy", false, false, false},
		{"_Unwind_Resume", true, false, false},
		{"__cxa_throw", true, false, false},
		{"pthread_exit", true, false, false},
		{"mcount", true, false, false},
		{"backtrace", true, false, false},
		{"backtrace sigaction", true, true, false},
		{"sigaction", false, false, false},
		{"_Unwind_Backtrace signal", true, true, false},
		{"siglongjmp", false, false, true},
		{"longjmp sigaction", false, false, true},
		{"pthread_cancel", true, false, true},
	} {
		im := &image.Image{Imports: map[string]bool{}}
		for _, n := range strings.Fields(c.imports) {
			im.Imports[n] = true
		}
		none := func(string) bool { return false }
		for what, p := range map[string]*Program{
			"itself":           begin(im, none, nil),
			"a library beside": begin(&image.Image{}, none, []*image.Image{im}),
		} {
			if p.Unwinds() != c.unwinds || p.Traces() != c.traces || p.Leaps() != c.leaps {
				t.Errorf("%s imports %s: unwinds %v, traces %v, leaps %v", what, c.imports, p.Unwinds(), p.Traces(), p.Leaps())
			}
		}
	}
	static := begin(&image.Image{Static: true}, func(string) bool { return false }, nil)
	static.Funcs = []*Func{{Name: "longjmp"}}
	if !static.Unwinds() || !static.Leaps() || static.Traces() {
		t.Error("a static program has what it is linked with")
	}
}

// TestHeightBehindPart: where rsp is known rbp is not taken for the pointer to a frame.
func TestHeightBehindPart(t *testing.T) {
	p, _ := readSource(t, "testdata/parts.s").build(t)
	if f := find(t, p, "high"); f.Skip != "" || f.framed || f.reads {
		t.Errorf("skipped %q, frame pointer %v, reads its caller's frame %v", f.Skip, f.framed, f.reads)
	}
}

// TestLeafImport: only what computes has no use for its return address.
func TestLeafImport(t *testing.T) {
	for name, want := range map[string]bool{"sin": true, "sinf": true, "__exp_finite": true, "memcpy": true, "strlen": true,
		"malloc": false, "dlsym": false, "qsort": false, "": false} {
		if c := (Call{Import: name}); c.LeafImport() != want {
			t.Errorf("%q only computes: %v", name, !want)
		}
	}
}

// TestHugeProgram: a program may ask for more memory than there is, without contents.
func TestHugeProgram(t *testing.T) {
	s := readSource(t, "testdata/stripped.s")
	want, l := s.build(t)
	im := open(t, stripped(t, s.link(t)))
	im.Highest = 1 << 62
	got := Build(im, want.catches)
	if x, y := strings.Join(describe(got, l), "\n"), strings.Join(describe(want, l), "\n"); x != y {
		t.Errorf("huge it is\n%s\nelse\n%s", x, y)
	}
}
