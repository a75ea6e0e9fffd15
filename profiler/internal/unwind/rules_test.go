package unwind

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// stack is memory from an address on.
type stack struct {
	lo   uint64
	data []byte
}

func (m *stack) Read(b []byte, addr uint64) error {
	if off := addr - m.lo; off < uint64(len(m.data)) && uint64(len(b)) <= uint64(len(m.data))-off {
		copy(b, m.data[off:])
		return nil
	}
	return io.ErrUnexpectedEOF
}

const (
	rbx, rbp, r12 = 3, 6, 12
	stackAt       = 0x7f0000
	loadedAt      = 0x10000000
)

// rulesModule is testdata/rules.s, loaded.
func rulesModule(t testing.TB) (mapping Mapping, functions map[string]uint64) {
	t.Helper()
	proctest.Need(t, "as", "ld")
	o, out := filepath.Join(t.TempDir(), "x.o"), filepath.Join(t.TempDir(), "x")
	for _, c := range [][]string{{"as", "--64", "-o", o, "testdata/rules.s"}, {"ld", "-shared", "-o", out, o}} {
		if msg, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", c, msg)
		}
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	functions = map[string]uint64{}
	for _, s := range syms {
		functions[s.Name] = loadedAt + s.Value
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			return Mapping{loadedAt + p.Vaddr, loadedAt + p.Vaddr + p.Memsz, p.Off, out}, functions
		}
	}
	t.Fatal("nothing to execute")
	return
}

// rules are what each function of testdata/rules.s means.
var rules = []struct {
	function    string
	cfa         uint64 // above the stack's beginning
	rbx         uint64
	last, fails bool
}{
	{function: "offset", cfa: 8, rbx: 0, fails: true}, // below the stack: not readable
	{function: "val_offset", cfa: 8, rbx: stackAt + 8 - 16},
	{function: "register", cfa: 8, rbx: 12},
	{function: "same_value", cfa: 8, rbx: 7},
	{function: "undefined", cfa: 8, rbx: 7},
	{function: "expression", cfa: 8, rbx: 1003},
	{function: "val_expression", cfa: 8, rbx: stackAt + 24},
	{function: "cfa_expression", cfa: 256, rbx: 1030},
	{function: "cfa_register", cfa: 144, rbx: 1016},
	{function: "outermost", last: true},
	{function: "vector", cfa: 8, rbx: 7},
	{function: "bad_cfa", fails: true},
	{function: "bad_expression", fails: true},
	{function: "bad_register", fails: true},
}

// TestRules goes one frame up by each rule that a table can have.
func TestRules(t *testing.T) {
	m, functions := rulesModule(t)
	mem := &stack{lo: stackAt, data: make([]byte, 512)}
	for i := range 64 { // word i of the stack is 1000 + i
		binary.LittleEndian.PutUint64(mem.data[8*i:], uint64(1000+i))
	}
	binary.LittleEndian.PutUint64(mem.data[32:], stackAt+256) // of cfa_expression
	u := New(mem)
	u.SetMappings([]Mapping{m})
	before := Regs{rbx: 7, rbp: stackAt + 128, r12: 12, regSP: stackAt}
	for _, c := range rules {
		t.Run(c.function, func(t *testing.T) {
			pc := functions[c.function] + 1
			l := u.at(pc)
			if l == nil {
				t.Fatalf("no module at %#x", pc)
			}
			fde, err := l.m.fdes.FDEForPC(pc - l.bias)
			if err != nil {
				t.Fatal(err)
			}
			regs := before
			regs[PC] = pc
			next, last, ok := u.step(regs, l.m, fde, pc-l.bias)
			if ok == c.fails || ok && last != c.last {
				t.Fatalf("understood %v, outermost %v", ok, last)
			}
			if !ok || last {
				return
			}
			ret := 1000 + c.cfa/8 - 1
			if next[regSP] != stackAt+c.cfa || next[rbx] != c.rbx || next[PC] != ret {
				t.Errorf("rsp %#x, rbx %d, return address %d; want %#x, %d, %d", next[regSP], next[rbx], next[PC], stackAt+c.cfa, c.rbx, ret)
			}
		})
	}
	for _, name := range []string{"bad_cfa", "bad_opcode"} { // what the table says is nonsense, or panics
		r := before
		r[PC] = functions[name] + 1
		if frames, complete := u.Stack(r); complete || len(frames) != 1 {
			t.Errorf("%s: %d frames, complete %v", name, len(frames), complete)
		}
	}
	r := before
	r[PC] = functions["outermost"] + 1
	if frames, complete := u.Stack(r); !complete || len(frames) != 1 {
		t.Errorf("outermost: %d frames, complete %v", len(frames), complete)
	}
}

// FuzzStack walks any stack by any table: it ends, and panics nowhere.
func FuzzStack(f *testing.F) {
	m, functions := rulesModule(f)
	x, err := elf.Open(m.Path)
	if err != nil {
		f.Fatal(err)
	}
	defer x.Close()
	s := x.Section(".eh_frame")
	data, err := s.Data()
	if err != nil {
		f.Fatal(err)
	}
	for _, a := range functions {
		f.Add(data, s.Addr, make([]byte, 64), a-loadedAt, uint64(stackAt))
	}
	f.Fuzz(func(t *testing.T, data []byte, addr uint64, words []byte, pc, sp uint64) {
		if addr == 0 {
			data = slices.Clone(data)
			asVersion3(data)
		}
		fdes, err := parse(data, addr)
		if err != nil {
			return
		}
		u := New(&stack{stackAt, words})
		u.modules = []loaded{{0, ^uint64(0), 0, &module{fdes: fdes}}}
		frames, _ := u.Stack(Regs{regSP: sp, rbp: sp + 16, PC: pc})
		if len(frames) == 0 || len(frames) > maxFrames+1 || frames[0].PC != pc {
			t.Errorf("%d frames", len(frames))
		}
	})
}
