package image

import (
	"debug/elf"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestGoProgram reads the test program itself, which go test links without
// symbols, and asks the running program where a function is.
func TestGoProgram(t *testing.T) {
	im, err := Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if !im.HasGo {
		t.Error("a Go program without Go's function table")
	}
	if !im.Static || im.Relocatable {
		t.Skip("built in a mode that links C code or is not at its link-time address")
	}
	for _, fn := range []func(*testing.T){TestGoProgram, TestErrors} {
		want := runtime.FuncForPC(reflect.ValueOf(fn).Pointer())
		f := im.FuncAt(uint64(want.Entry()) + 4)
		if f == nil || f.Addr != uint64(want.Entry()) || f.Name != want.Name() || f.Synthetic {
			t.Errorf("%s is %+v", want.Name(), f)
		}
	}
}

// TestWithoutSections reads a program whose section headers were taken away.
func TestWithoutSections(t *testing.T) {
	path := build(t, "plain.c", variants[0])
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := load(t, path)
	for i := 40; i < 48; i++ {
		b[i] = 0 // e_shoff
	}
	for i := 58; i < 64; i++ {
		b[i] = 0 // e_shentsize, e_shnum, e_shstrndx
	}
	out := path + "-sectionless"
	if err := os.WriteFile(out, b, 0o755); err != nil {
		t.Fatal(err)
	}
	im, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	entry := im.Bytes(im.Entry)
	if !im.Stripped || len(entry) < 16 || string(entry[:16]) != string(whole.Bytes(im.Entry)[:16]) || !im.Exec(im.Entry) {
		t.Errorf("no code at the entry: %+v", im.SectionAt(im.Entry))
	}
}

// TestMachineNames: a foreign program's CPU is named as its users name it.
func TestMachineNames(t *testing.T) {
	for m, want := range map[elf.Machine]string{elf.EM_AARCH64: "ARM64 (AArch64)", elf.EM_68K: "68K", 61234: "another CPU (ELF machine 61234)"} {
		if got := machineName(m); got != want {
			t.Errorf("%d: %q, want %q", m, got, want)
		}
	}
}

// TestGoTable compares Go's function table with the symbols of a program that
// has both, the go command.
func TestGoTable(t *testing.T) {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not in the path")
	}
	im := load(t, path)
	var table, text *Section
	for i := range im.Sections {
		switch s := &im.Sections[i]; {
		case s.Name == ".text":
			text = s
		case strings.HasSuffix(s.Name, ".gopclntab"):
			table = s
		}
	}
	if im.Stripped || table == nil || text == nil {
		t.Skipf("%s has no symbols, or no table", path)
	}
	funcs, err := readGoTable(table.Data, text.Addr, text.Addr+text.Size)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for _, f := range funcs {
		s := im.FuncAt(f.Addr)
		// The symbols of type parameters' functions are spelt with […], and
		// several may share an address.
		same := s != nil && s.Addr == f.Addr && s.End() <= f.End()
		if !same && wrong < 10 && s != nil && !strings.HasPrefix(f.Name, "go:") {
			wrong++
			t.Errorf("%s [%#x, %#x): symbol %s [%#x, %#x)", f.Name, f.Addr, f.End(), s.Name, s.Addr, s.End())
		}
	}
	if len(funcs) < 1000 {
		t.Errorf("%d functions", len(funcs))
	}
}

func TestCompilerSuffixes(t *testing.T) {
	for name, want := range map[string]bool{
		"f.cold": true, "f.cold.12": true, "f.lto_priv.0.cold": true, "f": false, ".cold": false, "f.cold.": false, "f.cold.x": false,
		"cold": false, "_ZN3a..cold..b17h0123E": false,
	} {
		if isCold(name) != want {
			t.Errorf("isCold(%q) is not %v", name, want)
		}
	}
	f := func(name string, bind elf.SymBind) *symbol { return &symbol{name: name, info: uint8(bind) << 4} }
	order := []*symbol{f("f", elf.STB_GLOBAL), f("f", elf.STB_WEAK), f("f", elf.STB_LOCAL), f("f.part.0", elf.STB_GLOBAL), f("f.cold", elf.STB_LOCAL)}
	for i := 1; i < len(order); i++ {
		if rank(order[i-1]) >= rank(order[i]) {
			t.Errorf("%s before %s", order[i].name, order[i-1].name)
		}
	}
	if rank(f("gomp_ialias_omp_in_parallel", elf.STB_GLOBAL)) <= rank(f("omp_in_parallel", elf.STB_GLOBAL)) {
		t.Error("a function is called as only libgomp calls it")
	}
}
