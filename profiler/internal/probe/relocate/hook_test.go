package relocate

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

const hooked = `
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void work(int n) { while (n--) puts(getenv("HOME")); }
int main(int argc, char **argv) { work(argc); return 0; }
`

// hooks of one that is recorded before and after, and of one only before.
func hooks(name string) (record.Hook, bool) {
	switch name {
	case "getenv", "work":
		return record.Hook{Arrive: 5, Leave: 6, Waits: true}, true
	case "puts":
		return record.Hook{Arrive: 7, Wakes: true}, true
	}
	return record.Hook{}, false
}

// hookOf is what a hook is to be: enter calls or jumps to the function.
func hookOf(at, cache uint64, name string, scanAfter uint32, enter func(a *asm.Assembler, call bool)) []byte {
	a := asm.New(at)
	if name == "puts" {
		a.MovImm32(x86.R11, 7|threadarea.ScanBit|threadarea.WakeBit)
		a.CallTo(cache + threadarea.RecordEntry)
		enter(a, false)
		return a.Bytes()
	}
	a.MovImm32(x86.R11, 5|threadarea.ScanBit|threadarea.WaitBit)
	a.CallTo(cache + threadarea.RecordEntry)
	a.SubImm8(x86.RSP, 8)
	enter(a, true)
	a.AddImm8(x86.RSP, 8)
	a.MovImm32(x86.R11, 6|scanAfter)
	a.CallTo(cache + threadarea.RecordEntry)
	a.Ret()
	return a.Bytes()
}

func assemble(t *testing.T, path string) (*Spec, *Code) {
	t.Helper()
	s := New(probetest.Open(t, path), hooks, probe.Options{}, Numbers{})
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func (c *Code) textAt(addr uint64, n int) []byte {
	for _, t := range c.Texts {
		if o := addr - t.Addr; o < uint64(len(t.New)) {
			return t.New[o : o+uint64(n)]
		}
	}
	return nil
}

// TestStubsLeadToHooks: the stub of a hooked function becomes a jump to its
// hook, which goes on through the stub's slot.
func TestStubsLeadToHooks(t *testing.T) {
	s, c := assemble(t, proctest.Build(t, "gcc", "-O1", "-Wl,-z,lazy", proctest.Source(t, "h.c", hooked)))
	found := 0
	for at, name := range s.Program.Image.PLT {
		if _, ok := hooks(name); !ok {
			continue
		}
		found++
		to, n := asm.JumpTarget(c.textAt(at, asm.JumpLen), at)
		stub, ok := image.ReadStub(s.Program.Image.Bytes(at), at)
		if n != asm.JumpLen || !ok {
			t.Fatalf("the stub of %s holds % x", name, c.textAt(at, asm.JumpLen))
		}
		want := hookOf(to, c.Base, name, 0, func(a *asm.Assembler, call bool) {
			if call {
				a.CallThrough(stub.Slot)
			} else {
				a.JmpThrough(stub.Slot)
			}
		})
		if got := c.Bytes[to-c.Base:]; !bytes.HasPrefix(got, want) {
			t.Errorf("the hook of %s is % x, want % x", name, got[:len(want)], want)
		}
	}
	if found != 2 || len(c.Slots) != 0 {
		t.Errorf("%d stubs, %d slots", found, len(c.Slots))
	}
}

// TestSlotsLeadToHooks: without stubs, slots get the hooks, which go on through
// a copy of what the slot held.
func TestSlotsLeadToHooks(t *testing.T) {
	s, c := assemble(t, proctest.Build(t, "gcc", "-O1", "-fno-plt", proctest.Source(t, "h.c", hooked)))
	if len(c.Slots) != 2 {
		t.Fatalf("%d slots", len(c.Slots))
	}
	for _, x := range c.Slots {
		name := s.Program.Image.GOT[x.Addr]
		literal := c.Base + uint64(x.Literal)
		want := hookOf(c.Base+uint64(x.Hook), c.Base, name, 0, func(a *asm.Assembler, call bool) {
			if call {
				a.CallThrough(literal)
			} else {
				a.JmpThrough(literal)
			}
		})
		if got := c.Bytes[x.Hook:]; !bytes.HasPrefix(got, want) {
			t.Errorf("the hook of %s is % x, want % x", name, got[:len(want)], want)
		}
	}
}

// TestStaticHooks: in a static program the entry of the function leads to its
// hook, and that to the copy. Home is above it, within reach.
func TestStaticHooks(t *testing.T) {
	s, c := assemble(t, proctest.Build(t, "gcc", "-O1", "-static", proctest.Source(t, "h.c", hooked)))
	im := s.Program.Image
	if s.Home() < im.Highest || s.Home()+s.CodeSize() > im.Lowest+Reach {
		t.Errorf("the cache lies at %#x", s.Home())
	}
	i := slices.IndexFunc(s.Plans(), func(q *Plan) bool { return q.Func.Name == "work" })
	if i < 0 {
		t.Fatal("work does not move")
	}
	offset, ok := c.Springboard(s.Plans()[i].Func.Ranges[0].Lo)
	if !ok {
		t.Fatal("no springboard at the entry")
	}
	length := len(hookOf(0, 0, "work", 0, func(a *asm.Assembler, _ bool) { a.CallTo(0) }))
	want := hookOf(c.Base+offset, c.Base, "work", threadarea.ScanBit, func(a *asm.Assembler, _ bool) { a.CallTo(c.Base + offset + uint64(length)) })
	if got := c.Bytes[offset:]; !bytes.HasPrefix(got, want) {
		t.Errorf("the hook of work is % x, want % x", got[:len(want)], want)
	}
}

// crowded functions have no room: another begins right behind.
const crowded = `
	.text
	.globl	main, jumps, returns, counts
	.type	jumps, @function
jumps:	jmp	*%rax		# where it goes would not be seen if it stayed
	.size	jumps, .-jumps
	.type	next, @function
next:	push	%rbx
	mov	%rdi, %rcx
	xor	%eax, %eax
1:	inc	%rax
	loop	1b
	jrcxz	2f
	inc	%rax
2:	pop	%rbx
	ret
	.size	next, .-next
	.type	returns, @function
returns: ret			# can stay
	.size	returns, .-returns
	.type	main, @function
main:	push	%rbx
	mov	$7, %edi
	call	next
	call	returns
	xor	%eax, %eax
	pop	%rbx
	ret
	.size	main, .-main
	.section .note.GNU-stack,"",@progbits
`

// TestCrowdedFunctions: where there is no room for a springboard the code
// stays, or the function does and says why.
func TestCrowdedFunctions(t *testing.T) {
	p := probetest.Open(t, proctest.Build(t, "gcc", proctest.Source(t, "c.s", crowded)))
	s := plan(p, probetest.NoHooks, probe.Options{}, Numbers{}, 4)
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Funcs {
		switch f.Name {
		case "jumps":
			if !strings.HasPrefix(f.Skip, "no room for a springboard at 0x") || s.Plan(f) != nil {
				t.Errorf("jumps moves, or does not because of %q", f.Skip)
			}
		case "next", "returns", "main":
			if f.Skip != "" || s.Plan(f) == nil {
				t.Errorf("%s does not move: %s", f.Name, f.Skip)
			}
		}
		if f.Name != "returns" {
			continue
		}
		if _, ok := c.Springboard(f.Ranges[0].Lo); ok || !s.Uses(f.Ranges[0].Lo) {
			t.Error("returns has a springboard in its single byte")
		}
	}
}
