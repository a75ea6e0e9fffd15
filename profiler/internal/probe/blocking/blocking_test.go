package blocking

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"os"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// build assembles a function of a shared library and finds its sites.
func build(t *testing.T, body string) (*image.Image, []Site) {
	t.Helper()
	proctest.Need(t, "cc")
	dir := t.TempDir()
	src, so := filepath.Join(dir, "f.s"), filepath.Join(dir, "f.so")
	text := ".globl f\n.type f,@function\nf:\n.cfi_startproc\n" + body + "\nret\n.cfi_endproc\n.size f,.-f\n.section .note.GNU-stack,\"\"\n"
	if err := os.WriteFile(src, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("cc", "-shared", "-nostdlib", src, "-o", so).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	im, err := image.OpenLibrary(so)
	if err != nil {
		t.Fatal(err)
	}
	return im, Find(im)
}

// TestFind: which system calls can be timed, and what makes room for the jump.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, body string
		moved      int // instructions; 0: it is no site
	}{
		{"futex", "mov $202,%eax\nsyscall", 1},
		{"two instructions", "mov $202,%eax\nxor %edx,%edx\nsyscall", 2},
		{"any number", "mov %rdi,%rax\nmov 8(%rsp),%r9\nsyscall", 1},
		{"read", "lea 8(%rsi),%rsi\nxor %eax,%eax\nsyscall", 2},
		{"does not block", "mov $39,%eax\nsyscall", 0},
		{"no room", "xor %eax,%eax\nsyscall", 0},
		{"behind a call", "call f\nxor %eax,%eax\nsyscall", 0},
		{"jumped to", "mov $202,%eax\ntest %edi,%edi\nje 1f\nmov $202,%eax\n1: syscall", 0},
		{"jumped into", "mov $202,%eax\n1: xor %edx,%edx\nsyscall\ntest %eax,%eax\njne 1b", 0},
		{"jumped to from its start", "1: mov $202,%eax\nsyscall\ntest %eax,%eax\njne 1b", 1},
		{"a switch", "jmp *%rdi\nmov $202,%eax\nsyscall", 0},
		{"in a constant", "mov $0x050f,%eax", 0},
		{"of one's own address", "9: lea 9b(%rip),%rdi\nmov $202,%eax\nxor %edx,%edx\nsyscall", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, sites := build(t, c.body)
			if n := len(sites); n != min(1, c.moved) {
				t.Fatalf("%d sites", n)
			}
			if c.moved > 0 && len(sites[0].Moved) != c.moved {
				t.Errorf("%d instructions are moved, want %d", len(sites[0].Moved), c.moved)
			}
		})
	}
}

// TestSystem finds what matters in this system's C library.
func TestSystem(t *testing.T) {
	libc := ""
	for _, f := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		if _, err := os.Stat(f); err == nil {
			libc = f
			break
		}
	}
	if libc == "" {
		t.Skip("no C library in the usual places")
	}
	im, err := image.OpenLibrary(libc)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]bool{}
	for _, s := range Find(im) {
		if f := im.FuncAt(s.At); f != nil {
			in[f.Name] = true
		}
		if room := s.At - s.Start(); room < asm.JumpLen {
			t.Errorf("%d bytes at %#x", room, s.Start())
		}
	}
	for _, name := range []string{"syscall", "fsync", "poll", "clock_nanosleep"} {
		found := in[name]
		for alias := range in {
			found = found || strings.Contains(alias, name)
		}
		if !found {
			t.Errorf("no system call of %s is timed", name)
		}
	}
}

// TestAssemble: the original leads to the stub, which does what was moved, the
// call, and goes on behind the original.
func TestAssemble(t *testing.T) {
	im, sites := build(t, "9: lea 9b(%rip),%rdi\nmov $202,%eax\nxor %edx,%edx\nsyscall")
	const bias, base = 0x7f0000000000, 0x7effff000000
	s, err := Assemble(base, Placed{sites, bias})
	if err != nil {
		t.Fatal(err)
	}
	j := s.Jumps[0]
	if j.At != sites[0].Start()+bias || !bytes.Equal(j.Old, im.Bytes(sites[0].Start())[:asm.JumpLen]) {
		t.Errorf("% x at %#x are replaced", j.Old, j.At)
	}
	to, n := asm.JumpTarget(j.New, j.At)
	if n != asm.JumpLen || !s.Holds(to) || s.Holds(base-1) || s.Holds(base+uint64(len(s.Bytes))) {
		t.Fatalf("the jump leads to %#x", to)
	}
	calls, back := 0, false
	for a := to; a < base+uint64(len(s.Bytes)); {
		in, err := x86.Decode(s.Bytes[a-base:], a)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(in.Bytes, []byte{0x0f, 0x05}) {
			calls++
			for _, c := range []struct{ pc, want uint64 }{{a, sites[0].At + bias}, {in.End(), sites[0].After() + bias}} {
				if got, ok := s.Interrupted(c.pc); !ok || got != c.want {
					t.Errorf("at %#x a signal finds %#x, want %#x", c.pc, got, c.want)
				}
			}
		}
		if in.Kind == x86.Call && in.Target != base {
			t.Errorf("a call of %#x, not of timer", in.Target)
		}
		back = back || in.Kind == x86.Jmp && in.Target == sites[0].After()+bias
		if got, ok := s.Origin(a); !ok || got != sites[0].After()+bias {
			t.Errorf("%#x stands for %#x", a, got)
		}
		a = in.End()
	}
	if calls != 1 || !back {
		t.Errorf("%d system calls; goes back: %v", calls, back)
	}
	for _, pc := range []uint64{to, base, base - 1} {
		if _, ok := s.Interrupted(pc); ok {
			t.Errorf("a signal at %#x is moved", pc)
		}
	}
	if _, ok := s.Origin(base); ok {
		t.Error("timer stands for a system call")
	}
	if uint64(len(s.Bytes)) > Size(1) {
		t.Errorf("%d bytes, at most %d were promised", len(s.Bytes), Size(1))
	}
	var none *Stubs
	if _, ok := none.Origin(base); ok || none.Holds(base) || none.IsFull(base) {
		t.Error("no stubs hold something")
	}
}

// TestTemplates: stub.bin, timer.bin and ward.bin are their sources, and the offsets here
// and in package threadarea are theirs.
func TestTemplates(t *testing.T) {
	proctest.Need(t, "as", "objcopy", "nm")
	dir := t.TempDir()
	for name, code := range map[string][]byte{"stub": stub, "timer": timer, "ward": ward} {
		o, bin := filepath.Join(dir, name+".o"), filepath.Join(dir, name+".bin")
		for _, c := range [][]string{{"as", "-o", o, name + ".S"}, {"objcopy", "-O", "binary", "-j", ".text", o, bin}} {
			if msg, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", c, msg)
			}
		}
		if b, err := os.ReadFile(bin); err != nil || !bytes.Equal(b, code) {
			t.Errorf("%s.bin is not %s.S assembled: go generate", name, name)
		}
		out, err := exec.Command("nm", o).Output()
		if err != nil {
			t.Fatal(err)
		}
		for label, want := range map[string]map[string]uint64{"stub": {"after": stubAfter, "back": stubBack, "timer": stubTimer}, "timer": {"copy": timerCopy}, "ward": {"back": wardBack, "trapped": wardTrapped}}[name] {
			m := regexp.MustCompile(`([0-9a-f]+) t ` + label + `\n`).FindSubmatch(out)
			if m == nil {
				t.Fatalf("no %s in %s.S", label, name)
			}
			if at, _ := strconv.ParseUint(string(m[1]), 16, 64); at != want {
				t.Errorf("%s is at %#x of %s, not %#x", label, at, name, want)
			}
		}
	}
	if timer[timerFull-1] != 0xcc || !bytes.Equal(timer[timerCopy:timerCopy2], []byte{0xf3, 0x48, 0xa5}) {
		t.Error("timer's int3 or its copy is elsewhere")
	}
	s := &Stubs{Base: 0x1000, Bytes: timer}
	if to, ok := s.Faulted(0x1000 + timerCopy); !ok || to != 0x1000+timerCopy2 || !s.IsFull(0x1000+timerFull) || s.IsFull(0x1000) {
		t.Error("a fault of the copy, or a full ring, is not known")
	}
	if _, ok := s.Faulted(0x1000); ok {
		t.Error("every fault is one of the copy")
	}
}

// TestParse reads a record as timer.S writes it.
func TestParse(t *testing.T) {
	m := make([]byte, 56+96+64)
	put := func(off int, v uint64) {
		for i := range 8 {
			m[off+i] = byte(v >> (8 * i))
		}
	}
	put(0, threadarea.RawKind)
	for i, v := range []uint64{100, 0x5000, 0x77, 40, 3, 9} { // end, stub, arg1, begin, cpu
		put(8+8*i, v)
	}
	for i, v := range []uint64{syscall.SYS_FUTEX, 128, 11, 0x7ffc00, 1, 2, 12, 13, 14, 15, 3} { // 3 words left out
		put(56+8*i, v)
	}
	w := Parse(m)
	if w.Number != syscall.SYS_FUTEX || w.Begin != 40 || w.End != 100 || w.Arg1 != 0x77 || w.Arg2 != 128 || w.Result != 11 || w.CPUNS != 3e9+9 || w.After != 0x5000 {
		t.Errorf("%+v", w)
	}
	if w.Regs[7] != 0x7ffc00 || w.Regs[3] != 1 || w.Regs[6] != 2 || w.Regs[15] != 15 || len(w.Stack) != 40 {
		t.Errorf("registers %x, %d bytes of stack", w.Regs, len(w.Stack))
	}
}

// TestWakes: which calls wake threads, how many, and which wait was ended by one.
func TestWakes(t *testing.T) {
	const private, timedOut = 128, ^uint64(110) + 1
	for _, c := range []struct {
		w     Wait
		wakes int
		woken bool
	}{
		{Wait{Number: syscall.SYS_FUTEX, Arg2: 1 | private, Result: 3}, 3, false},
		{Wait{Number: syscall.SYS_FUTEX, Arg2: 10 | private, Result: 1}, 1, false},
		{Wait{Number: syscall.SYS_FUTEX, Arg2: 1, Result: ^uint64(13)}, 0, false},
		{Wait{Number: syscall.SYS_FUTEX, Arg2: 3, Result: 3}, 0, false}, // moved to another word
		{Wait{Number: syscall.SYS_FUTEX, Arg2: 9 | private | 256}, 0, true},
		{Wait{Number: syscall.SYS_FUTEX, Result: timedOut}, 0, false},
		{Wait{Number: syscall.SYS_READ, Arg2: 1, Result: 3}, 0, false},
	} {
		if n, woken := c.w.Wakes(), c.w.Woken(); n != c.wakes || woken != c.woken {
			t.Errorf("%+v: %d wakes, woken %v", c.w, n, woken)
		}
	}
}

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		nr         uint32
		arg1, arg2 uint64
		want       Class
	}{
		{syscall.SYS_FUTEX, 1, 128, Futex}, {syscall.SYS_FUTEX, 1, 129, None}, {syscall.SYS_FUTEX, 1, 9 | 128 | 256, Futex},
		{syscall.SYS_NANOSLEEP, 1, 1, Sleep}, {syscall.SYS_POLL, 1, 0, Sleep}, {syscall.SYS_POLL, 1, 2, IO},
		{syscall.SYS_SELECT, 0, 0, Sleep}, {syscall.SYS_SELECT, 3, 0, IO}, {syscall.SYS_FSYNC, 3, 0, IO},
		{syscall.SYS_FLOCK, 3, 2, Lock}, {syscall.SYS_PAUSE, 0, 0, Event}, {syscall.SYS_GETPID, 0, 0, None},
	} {
		if got := ClassOf(c.nr, c.arg1, c.arg2); got != c.want {
			t.Errorf("%d(%d, %d) is %d, want %d", c.nr, c.arg1, c.arg2, got, c.want)
		}
	}
}

// TestInline: moved code makes the call in place, goes on behind the stub, and
// calls timer through its thread's area.
func TestInline(t *testing.T) {
	code, after := Inline()
	calls := 0
	for a := 0; a < len(code); {
		in, err := x86.Decode(code[a:], uint64(a))
		if err != nil {
			t.Fatal(err)
		}
		end := int(in.End())
		switch {
		case bytes.Equal(in.Bytes, []byte{0x0f, 0x05}):
			if calls++; end != after {
				t.Errorf("the system call ends at %#x, not at %#x", end, after)
			}
		case in.Kind == x86.Call && int(in.Target) != len(stub):
			t.Errorf("a call of %#x", in.Target)
		case in.Kind == x86.Jmp && in.Len() == asm.JumpLen && int(in.Target) != len(code):
			t.Errorf("it goes on at %#x of %#x", in.Target, len(code))
		case a == len(stub) && in.Kind != x86.JmpInd:
			t.Errorf("%v stands where timer is called through", in)
		}
		a = end
	}
	if calls != 1 {
		t.Errorf("%d system calls", calls)
	}
}
