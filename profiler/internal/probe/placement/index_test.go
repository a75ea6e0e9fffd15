package placement

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// mark is a no-op that stands behind the instruction that is wanted.
var mark = []byte{0x0f, 0x1f, 0x40, 0x77}

// TestIndex: what a loop counts by, in the ways in which compilers write it. MARK
// stands behind it; a loop without one has none.
func TestIndex(t *testing.T) {
	const framed = "push %rbp; mov %rsp,%rbp; sub $32,%rsp; "
	loops := []struct{ name, code string }{
		{"a constant", "1: call g; add $1,%rbx; MARK; cmp %r12,%rbx; jne 1b"},
		{"of 32 bits, by inc", "1: call g; incl %ebx; MARK; cmp %r12d,%ebx; jne 1b"},
		{"downwards, by lea", "1: call g; lea -8(%rbx),%rbx; MARK; test %rbx,%rbx; jne 1b"},
		{"a stride that stays", "1: call g; add %r14,%rbx; MARK; cmp %r12,%rbx; jl 1b"},
		{"the first constant, not the sum of results", "1: call g; add %rax,%rbp; add $8,%rbx; MARK; cmp %r12,%rbx; jne 1b"},
		{"the sum of results, for want of another", "1: call g; add %rax,%rbp; MARK; test %r12,%r12; jne 1b"},
		{"what calls change", "1: call g; add $1,%rax; cmp %r12,%rax; jne 1b"},
		{"in a register that a callee leaves alone", "1: call g; add $1,%r9; MARK; cmp %r12,%r9; jne 1b"},
		{"changed elsewhere", "1: call g; add $1,%rbx; test %rax,%rax; je 2f; mov %rax,%rbx; 2: cmp %r12,%rbx; jne 1b"},
		{"not in each round", "1: call g; test %rax,%rax; je 2f; add $1,%rbx; 2: cmp %r12,%rbx; jne 1b"},
		{"on either way", "1: call g; test %rax,%rax; je 2f; add $4,%rbx; MARK; cmp %r12,%rbx; jne 1b; ret; 2: add $4,%rbx; cmp %r12,%rbx; jne 1b"},
		{"from 0, and where the thread began", "xor %ebx,%ebx; 1: lea (%r14,%rbx,1),%rdi; MARK; call g; add $1,%rbx; cmp %r12,%rbx; jne 1b"},
		{"of an inner loop", "1: mov $9,%ebx; 2: call g; sub $1,%rbx; jne 2b; test %r12,%r12; jne 1b"},
		{"on the stack", "sub $32,%rsp; 1: call g; addl $1,8(%rsp); MARK; cmp %r12d,8(%rsp); jne 1b; add $32,%rsp"},
		{"in the frame", framed + "1: call g; addl $1,-8(%rbp); MARK; cmpl $9,-8(%rbp); jne 1b; leave"},
		{"by a pointer that is no frame's", "1: call g; addl $1,-8(%rbp); cmpl $9,-8(%rbp); jne 1b"},
		{"on the stack, by a register that stays", framed + "1: call g; add %r14d,-8(%rbp); MARK; cmpl $9,-8(%rbp); jne 1b; leave"},
		{"loaded, added to and put back", framed + "1: call g; mov -8(%rbp),%eax; add $1,%eax; mov %eax,-8(%rbp); MARK; cmpl $9,-8(%rbp); jne 1b; leave"},
		{"added to what is loaded, and put back", framed + "1: call g; mov -16(%rbp),%eax; add -8(%rbp),%eax; mov %eax,-8(%rbp); MARK; cmpl $9,-8(%rbp); jne 1b; leave"},
		{"put somewhere else", framed + "1: call g; mov -8(%rbp),%eax; add $1,%eax; mov %eax,-16(%rbp); cmpl $9,-8(%rbp); jne 1b; leave"},
		{"written by another instruction too", framed + "1: call g; addl $1,-8(%rbp); mov %eax,-8(%rbp); cmpl $9,-8(%rbp); jne 1b; leave"},
		{"the stack pointer", "1: call g; add $8,%rsp; cmp %r12,%rsp; jne 1b"},
		{"indexed", "1: call g; addl $1,(%rsp,%rbx,4); test %rax,%rax; jne 1b"},
		{"of 16 bits", "1: call g; addw $1,%bx; test %rax,%rax; jne 1b"},
		{"what is loaded from elsewhere", "1: call g; add (%r14),%rbx; MARK; cmp %r12,%rbx; jne 1b"},
	}
	var text strings.Builder
	text.WriteString(".globl _start\n_start: ret\n.type g,@function\ng: ret\n")
	for i, l := range loops {
		fmt.Fprintf(&text, ".globl f%d\n.type f%d,@function\nf%d: %s; ret\n.size f%d,.-f%d\n", i, i, i, strings.ReplaceAll(l.code, "MARK", "nopl 0x77(%rax)"), i, i)
	}
	p := probetest.Open(t, proctest.Build(t, "gcc", "-nostdlib", "-static", proctest.Source(t, "loops.s", text.String())))
	for i, l := range loops {
		g := graphOf(t, p, fmt.Sprint("f", i))
		outer := g.Loops[0]
		for outer.Parent != nil {
			outer = outer.Parent
		}
		in := Index(g, outer)
		switch wanted := strings.Contains(l.code, "MARK"); {
		case in == nil && wanted:
			t.Errorf("%s: not found", l.name)
		case in != nil && (!wanted || !bytes.Equal(p.Image.Bytes(in.End())[:len(mark)], mark)):
			t.Errorf("%s: % x is taken for it", l.name, in.Bytes)
		case in != nil && Sums(in) != strings.Contains(l.code, "lea (%r14"):
			t.Errorf("%s: it is a sum, or none", l.name)
		case in != nil && !in.HasMem && Counts(in) == x86.None:
			t.Errorf("%s: of no register", l.name)
		}
	}
}

func graphOf(t *testing.T, p *cfg.Program, name string) *cfg.Graph {
	t.Helper()
	for _, f := range p.Funcs {
		if f.Name == name {
			if g := p.Graph(f, nil); len(g.Loops) > 0 {
				return g
			}
		}
	}
	t.Fatalf("no loop in %s", name)
	return nil
}

// TestIndexIsPassedOnceARound: on every way once round a loop of real programs stands
// what is said to count its rounds.
func TestIndexIsPassedOnceARound(t *testing.T) {
	found := 0
	graphs(t, func(g *cfg.Graph, _ []Exclusion) {
		for _, l := range g.Loops {
			in := Index(g, l)
			if in == nil || Sums(in) {
				continue
			}
			found++
			if !inMemory(in) && in.Opcode != 0x89 && changes(l, Counts(in)) == 0 {
				t.Errorf("%s: nothing in the loop at %#x changes what % x counts", g.Name, l.Head.Start, in.Bytes)
			}
			// Without the blocks that count, the head is out of its own reach.
			seen, stack := map[*cfg.Block]bool{}, []*cfg.Block{l.Head}
			for len(stack) > 0 {
				b := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				counting := false
				for i := range b.Insns {
					counting = counting || bytes.Equal(b.Insns[i].Bytes, in.Bytes)
				}
				if counting || seen[b] {
					continue
				}
				seen[b] = true
				for _, e := range b.Succ {
					if e.To == l.Head {
						t.Errorf("%s: one can go round at %#x without % x", g.Name, l.Head.Start, in.Bytes)
					} else if e.To != nil && l.Has(e.To) {
						stack = append(stack, e.To)
					}
				}
			}
		}
	})
	if found < 200 {
		t.Errorf("only %d loops", found)
	}
}
