package livepatch

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// text is a program's text as it runs, by link-time address.
type text map[uint64]byte

func (m text) write(addr uint64, b []byte) error {
	for i, x := range b {
		m[addr+uint64(i)] = x
	}
	return nil
}

func (m text) bytes(addr uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = m[addr+uint64(i)]
	}
	return b
}

// leads reports whether a thread that goes on at an address of the text comes
// to an offset of the cache, or does there what its copy at that offset does.
func (m text) leads(l *Patcher, addr, offset uint64) bool {
	in := l.insn(addr)
	begins, _ := l.find(offset)
	if l.preserved[addr] {
		return begins != nil && begins.Addr == addr && bytes.Equal(m.bytes(addr, in.Len()), in.Bytes) &&
			(in.Kind != x86.Normal || m.leads(l, in.End(), uint64(begins.End)))
	}
	if in != nil && in.Kind.IsCall() && begins != nil && begins.Addr == addr && m[addr] == in.Bytes[0] { // in place, but for its target
		return l.stays(in)
	}
	for range 2 {
		switch b := m.bytes(addr, 5); b[0] {
		case 0xcc:
			to, ok := l.Trapped(addr)
			return ok && to == offset
		case 0xeb:
			addr += 2 + uint64(int8(b[1]))
		case 0xe9:
			return l.c.Base+offset == addr+5+uint64(int32(binary.LittleEndian.Uint32(b[1:])))
		}
	}
	return false
}

// TestSpringboardsLeadBack interrupts a program at many places, at random, and
// checks that every address that a handler is shown leads back, also after all
// others were made, and that nothing was written over what executes.
func TestSpringboardsLeadBack(t *testing.T) {
	s := relocate.New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{}, relocate.Numbers{})
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	m := text{}
	for _, x := range s.Program.Image.Sections {
		if x.Exec {
			m.write(x.Addr, x.Data)
		}
	}
	for _, x := range c.Texts {
		m.write(x.Addr, x.New)
	}
	before := maps.Clone(m)
	l := New(s, c, m.write)
	r := rand.New(rand.NewPCG(5, 6))
	shown := map[uint64]uint64{} // address → offset
	refused := 0
	for range 300 {
		i := r.IntN(len(s.Plans()))
		for _, k := range s.Copied(c, i) {
			var a uint64
			ok := false
			switch r.IntN(6) {
			case 0:
				a, ok = l.Interrupted(uint64(k.Start), false, r.IntN(2) == 0)
			case 1:
				f, _ := l.Faulted(uint64(k.Start))
				a, ok = f.Addr, f.Redirected
			default:
				continue
			}
			if ok {
				shown[a] = uint64(k.Start)
			} else {
				refused++
			}
		}
	}
	for a, offset := range shown {
		if !m.leads(l, a, offset) {
			t.Errorf("%#x was shown for +%#x and does not lead back", a, offset)
		}
	}
	for a, b := range m {
		if before[a] != b && s.Uses(a) {
			t.Errorf("the byte at %#x executes and was written", a)
		}
	}
	for a := range l.islands {
		if !l.Island(a) {
			t.Errorf("the island at %#x is not known", a)
		}
	}
	for _, q := range s.Plans()[:50] {
		if a := q.Func.Ranges[0].Lo; l.Island(a) {
			t.Errorf("the entry %#x is an island", a)
		}
	}
	t.Logf("%d addresses lead back, %d do not", len(shown), refused)
	if refused > len(shown) {
		t.Error("most addresses cannot be shown")
	}
}

// kernel is a function with what stops in the kernel, and with what sees that
// it is stepped.
const kernel = `
	.text
	.globl	main
	.type	main, @function
main:	push	%rbx
	mov	$39, %eax
	syscall
	mov	%rax, %rbx
	pushfq
	popfq
	add	$0x12345678, %rbx
	int3
	lea	0x12345678(%rbx), %rax
	movabs	$0x123456789abcdef, %rdx
	pop	%rbx
	ret
	.size	main, .-main
	.section .note.GNU-stack,"",@progbits
`

// placedMain is the program, moved, with the copies of main's instructions.
func placedMain(t *testing.T) (l *Patcher, m text, copies []relocate.Copied) {
	p := probetest.Open(t, proctest.Build(t, "gcc", proctest.Source(t, "k.s", kernel)))
	s := relocate.New(p, probetest.NoHooks, probe.Options{}, relocate.Numbers{})
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	m = text{}
	for _, x := range c.Texts {
		m.write(x.Addr, x.New)
	}
	for i, q := range s.Plans() {
		if q.Func.Name == "main" {
			return New(s, c, m.write), m, s.Copied(c, i)
		}
	}
	t.Fatal("main does not move")
	return nil, nil, nil
}

// TestKernelEntries: a thread behind a system call is shown the address behind
// it, and one that makes the call again the same, with the call before it.
func TestKernelEntries(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		l, m, copies := placedMain(t)
		for _, k := range copies {
			in := l.insn(k.Addr)
			if !stopsBehind(in) {
				continue
			}
			a, ok := l.Interrupted(uint64(k.End), restarts, true)
			if !ok || a != in.End() || !m.leads(l, a, uint64(k.End)) {
				t.Errorf("behind % x: %#x %v", in.Bytes, a, ok)
			}
			if restarts && !l.preserved[k.Addr] {
				t.Errorf("% x is to be executed again and was not preserved", in.Bytes)
			}
		}
	}
	l, m, copies := placedMain(t)
	for _, k := range copies {
		if in := l.insn(k.Addr); in.Opcode == 0xcc && in.Map == 0 {
			f, ok := l.Faulted(uint64(k.End))
			if !ok || f.Addr != in.End() || !f.Redirected || !m.leads(l, f.Addr, uint64(k.End)) {
				t.Errorf("behind int3: %+v %v", f, ok)
			}
		}
		if _, ok := l.Interrupted(uint64(k.Start), true, true); ok && l.insn(k.Addr).Kind == x86.Normal && !behindKernel(l, copies, k) {
			t.Errorf("a system call is made again where there is none, at +%#x", k.Start)
		}
	}
	if _, ok := l.Interrupted(3, false, true); ok {
		t.Error("interrupted in the recorder")
	}
	if _, ok := l.Faulted(3); ok {
		t.Error("a fault in the recorder")
	}
}

func behindKernel(l *Patcher, copies []relocate.Copied, k relocate.Copied) bool {
	for _, x := range copies {
		if x.End == k.Start && stopsBehind(l.insn(x.Addr)) {
			return true
		}
	}
	return false
}

// TestAdvance: single steps, but not into the kernel, nor where flags are seen;
// the recorder runs to its end.
func TestAdvance(t *testing.T) {
	l, _, copies := placedMain(t)
	seen := 0
	for _, k := range copies {
		in := l.insn(k.Addr)
		want := true
		switch in.Opcode {
		case 0x05, 0x9c, 0x9d, 0xcc: // syscall, pushf, popf, int3
			want = false
			seen++
		}
		if to, ok := l.Advance(uint64(k.Start)); to != 0 || ok != want {
			t.Errorf("% x: to %#x %v", in.Bytes, to, ok)
		}
	}
	if seen != 4 {
		t.Errorf("%d instructions that cannot be stepped", seen)
	}
	if to, ok := l.Advance(threadarea.RecordBody + 5); to != threadarea.RecordEnd || !ok {
		t.Errorf("from the recorder to %#x %v", to, ok)
	}
	if to, ok := l.Advance(threadarea.RecordEnd); to != 0 || !ok {
		t.Errorf("from the recorder's end to %#x %v", to, ok)
	}
}
