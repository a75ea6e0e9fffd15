package relocate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// straight is a block of instructions.
func straight(t *testing.T, code ...byte) *cfg.Block {
	t.Helper()
	b := &cfg.Block{Succ: []*cfg.Edge{{}}}
	for at := uint64(0x1000); len(code) > 0; {
		in, err := x86.Decode(code, at)
		if err != nil {
			t.Fatal(err)
		}
		b.Insns = append(b.Insns, in)
		code, at = code[in.Len():], in.End()
	}
	return b
}

// TestGroups: what is looked at at once, where, and in how many pieces.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want string
	}{
		{"a prologue's pushes lie together", []byte{
			0x41, 0x57, // push %r15
			0x41, 0x56, // push %r14
			0x55, // push %rbp
			0x53, // push %rbx
		}, "at 0: -32…0(4) w"},
		{"so do what was pushed and what lies above", []byte{
			0x53,                   // push %rbx
			0x48, 0x83, 0xec, 0x10, // sub $16,%rsp
			0x48, 0x8b, 0x44, 0x24, 0x08, // mov 8(%rsp),%rax
		}, "at 0: -16…0(4) w"},
		{"along a list nothing is known before", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x48, 0x8b, 0x40, 0x08, // mov 8(%rax),%rax
		}, "at 0: 0…8(7) | at 1: 8…16(0)"},
		{"far apart", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x48, 0x89, 0x47, 0x40, // mov %rax,64(%rdi)
		}, "at 0: 0…8(7), 64…72(7) w"},
		{"a pointer that goes on", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x48, 0x83, 0xc7, 0x08, // add $8,%rdi
			0x48, 0x89, 0x07, // mov %rax,(%rdi)
			0x48, 0x8d, 0x7f, 0xf8, // lea -8(%rdi),%rdi
			0x48, 0x3b, 0x07, // cmp (%rdi),%rax
		}, "at 0: 0…16(7) w"},
		{"a register that is made anew", []byte{
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
			0x48, 0x89, 0xf7, // mov %rsi,%rdi
			0x48, 0x8b, 0x07, // mov (%rdi),%rax
		}, "at 0: 0…8(7) | at 2: 0…8(7)"},
	} {
		b := straight(t, c.code...)
		var s accesses
		g := &cfg.Graph{Blocks: []*cfg.Block{b}}
		g.LiveRegisters(&s.regs)
		s.first(g, 7)
		s.gather(b)
		var got []string
		op := int32(7)
		for i := range s.groups {
			x := &s.groups[i]
			for _, a := range x.list {
				if a.op != op {
					t.Errorf("%s: access %d is number %d", c.name, op, a.op)
				}
				op++
			}
			var parts []string
			for _, k := range clusters(s.settled(x), 64) {
				p := fmt.Sprintf("%d…%d(%d)", k.where(), k.where()+k.span, k.Mem.Base)
				if k.store {
					p += " w"
				}
				parts = append(parts, p)
			}
			got = append(got, fmt.Sprintf("at %d: %s", x.at, strings.Join(parts, ", ")))
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, " | "), c.want)
		}
	}
}

// TestGroupsOfPrograms: every access of real programs is in one group of its block,
// in order, that is looked at where the registers of its address are as they are at
// the access but for constants, and two registers are to be had.
func TestGroupsOfPrograms(t *testing.T) {
	for _, path := range probetest.Programs(t) {
		s := New(probetest.Open(t, path), probetest.NoHooks, probe.Options{Caches: probe.Front{Sets: 64, Shift: 6}}, Numbers{})
		next, spilled, groups := int32(0), 0, 0
		for _, q := range s.plans {
			if q.Op != next {
				t.Fatalf("%s: the first access of %s is %d, want %d", path, q.Func.Name, q.Op, next)
			}
			var x accesses
			g := s.Program.Graph(q.Func, nil)
			g.LiveRegisters(&x.regs)
			x.first(g, q.Op)
			n := int32(0)
			s.Ops(g, func(Op) { n++ })
			next += n
			for _, b := range g.Blocks {
				x.gather(b)
				for i := range x.groups {
					k := &x.groups[i]
					groups++
					free := x.free(k, k.at)
					spilled += 2 - len(free)
					if len(free)+len(others(k, free)) != 2 {
						t.Fatalf("%s: %s: no registers for %d accesses at %#x", path, q.Func.Name, len(k.list), b.Insns[k.at].Addr)
					}
				}
			}
		}
		if next != s.Next().Op {
			t.Errorf("%s: %d accesses, numbered to %d", path, next, s.Next().Op)
		}
		t.Logf("%s: %d accesses in %d groups, %.2f registers of a group are saved", path, next, groups, float64(spilled)/float64(groups))
	}
}

// TestShapes: whose ranges are known.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		code  []byte
		shape string
	}{
		{[]byte{0xf3, 0xa4}, "4 2"},        // rep movsb
		{[]byte{0xf3, 0x48, 0xa5}, "52 2"}, // rep movsq
		{[]byte{0xf3, 0xab}, "35 1"},       // rep stosl
		{[]byte{0xf3, 0x66, 0xab}, "19 1"}, // rep stosw
		{[]byte{0xa4}, "0 0"},              // movsb
		{[]byte{0xf3, 0xa6}, "0 0"},        // repe cmpsb
	} {
		shape, n := new(ranging).shapeOf(straight(t, c.code...), 0)
		if got := fmt.Sprint(shape, n); got != c.shape {
			t.Errorf("% x: %s, want %s", c.code, got, c.shape)
		}
	}
}
