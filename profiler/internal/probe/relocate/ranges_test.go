package relocate

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/caches"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// calling calls libraries in all ways, and functions of its own; some calls stand right
// behind others.
const calling = `
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int own(int n) { return n * n; }
__attribute__((noinline)) int tail(const char *s) { return strtol(s, 0, 10); }
__attribute__((noinline)) void twice(void) { abort(); }
__attribute__((noinline)) int pointer(int (*f)(int), int n) { return 1 + f(n); }
__attribute__((noinline)) int behind(void) {
	__asm__ volatile("mov $1, %%eax\n\tmov $2, %%ecx\n\tcall getpid@PLT\n\tcall getppid@PLT\n\tcall getuid@PLT" : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
	return 3;
}
int main(int argc, char **argv) {
	char b[100];
	memset(b, argc, sizeof b);
	return own(argc) + tail(argv[0]) + pointer(own, argc) + behind() + b[5];
}
`

// specOf plans it.
func specOf(t *testing.T, opt probe.Options) *Spec {
	t.Helper()
	prog := proctest.Build(t, "gcc", "-O2", "-fno-builtin", "-fno-ipa-icf", proctest.Source(t, "calling.c", calling))
	opt.Caches.Sets, opt.Caches.Shift = 64, 6
	return New(probetest.Open(t, prog), probetest.NoHooks, opt, Numbers{})
}

// called are the functions of the library that a function's calls lead to, as far as
// their accesses count there, "?" where a pointer says it; and what stubs are read.
func called(t *testing.T, s *Spec, function string) (names []string, stubs int) {
	t.Helper()
	g := graphOf(t, s, function)
	r := newRanging(s.Program.Image, &s.opt)
	for _, b := range g.Blocks {
		for k := range b.Insns {
			in := &b.Insns[k]
			if r.slotOf(in) != 0 {
				stubs++
			}
			if shape, n := r.shapeOf(b, k); shape != caches.Call || n != 2 {
				continue
			}
			name := "?"
			if c := b.CallOf(&b.Insns[k]); c != nil && c.Import != "" {
				name = c.Import
			} else if x := s.Program.Image.PLT[in.Target]; x != "" {
				name = x
			}
			names = append(names, name)
		}
	}
	return names, stubs
}

func graphOf(t *testing.T, s *Spec, function string) *cfg.Graph {
	t.Helper()
	for _, f := range s.Program.Funcs {
		if f.Name == function {
			return s.Program.Graph(f, nil)
		}
	}
	t.Fatalf("no %s", function)
	return nil
}

// TestCallsOfLibraries: at which instructions what libraries access counts, and where the
// way there is read.
func TestCallsOfLibraries(t *testing.T) {
	s := specOf(t, probe.Options{Caches: probe.Front{Libraries: true}})
	for function, want := range map[string][]string{"own": nil, "tail": {"strtol"}, "twice": {"abort"}, "pointer": {"?"},
		"behind": {"getpid", "getppid", "getuid"}, "main": {"memset"}} {
		names, stubs := called(t, s, function)
		if function == "pointer" {
			stubs++
		}
		if !slices.Equal(names, want) || stubs != len(want) {
			t.Errorf("%s calls %v by %d stubs, want %v", function, names, stubs, want)
		}
	}
	alone := specOf(t, probe.Options{})
	if names, stubs := called(t, alone, "behind"); len(names)+stubs > 0 {
		t.Errorf("%v and %d stubs, where libraries are not simulated", names, stubs)
	}
	n := int32(0)
	for _, q := range s.plans {
		s.Ops(s.Program.Graph(q.Func, nil), func(o Op) {
			if o.Called && (o.Repeats || o.Load == o.Store) {
				t.Errorf("%+v", o)
			}
			n++
		})
	}
	if n != s.Next().Op {
		t.Errorf("%d accesses, numbered to %d", n, s.Next().Op)
	}
}

// TestReadAhead: what stubs read of calls that run where they always did, right behind
// another one, is read before that one.
func TestReadAhead(t *testing.T) {
	s := specOf(t, probe.Options{NoLeaf: true, Caches: probe.Front{Libraries: true}})
	g := graphOf(t, s, "behind")
	q := s.Plan(g.Func)
	x := accesses{ranging: newRanging(s.Program.Image, &s.opt), graph: g, plan: q}
	g.LiveRegisters(&x.regs)
	x.first(g, q.Op)
	ops := map[int32]uint64{}
	n := q.Op
	s.Ops(g, func(o Op) { ops[n] = o.Target; n++ })
	slots := map[uint64]int{}
	for _, b := range g.Blocks {
		x.gather(b)
		for i := range x.groups {
			for _, a := range x.groups[i].list {
				if !a.Mem.RIP {
					continue
				}
				if slots[a.Target]++; ops[a.op] != a.Target {
					t.Errorf("what is read at %#x is number %d, of %#x", a.Target, a.op, ops[a.op])
				}
				if c := b.CallOf(&b.Insns[x.groups[i].at]); c == nil || q.is(c, afterCall|afterArrival) && len(slots) > 1 && slots[a.Target] == 1 {
					t.Errorf("%#x is read at instruction %d first, which is never come to", a.Target, x.groups[i].at)
				}
			}
		}
	}
	if len(slots) != 3 {
		t.Errorf("%d slots are read, want 3", len(slots))
	}
}

// TestSilent: a library's copy has no numbers and no counters; its accesses are the
// caller's, who leaves its number.
func TestSilent(t *testing.T) {
	s := specOf(t, probe.Options{NoCounters: true, Library: true})
	if s.Next().Op != 0 {
		t.Errorf("accesses of a library have %d numbers", s.Next().Op)
	}
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	all := binary.LittleEndian.AppendUint32([]byte{0xa9}, caches.ByCaller<<8|8)
	if !bytes.Contains(c.Bytes, all) {
		t.Error("no access of 8 bytes is the caller's")
	}
	program := specOf(t, probe.Options{Caches: probe.Front{Libraries: true, Erased: map[uint64]bool{}}})
	for _, b := range graphOf(t, program, "tail").Blocks {
		for i := range b.Insns {
			program.opt.Caches.Erased[b.Insns[i].Addr] = true
		}
	}
	if c, err = program.Assemble(program.Home()); err != nil {
		t.Fatal(err)
	}
	// movl $number, %gs:…: the place is a distance from where lines that were used last lie
	below := uint32(threadarea.CallerBelow)
	leaves := binary.LittleEndian.AppendUint32([]byte{0x65, 0xc7, 0x04, 0x25}, -below)
	if !bytes.Contains(c.Bytes, leaves) || !bytes.Contains(c.Bytes, binary.LittleEndian.AppendUint32(leaves, caches.Erased)) {
		t.Error("callers do not leave their numbers, or not whose accesses are hits")
	}
}
