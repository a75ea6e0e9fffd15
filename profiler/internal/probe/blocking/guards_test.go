package blocking

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestGuardTemplates: guard.bin, gate.bin and door.bin are their sources, and
// the offsets here are theirs.
func TestGuardTemplates(t *testing.T) {
	proctest.Need(t, "as", "objcopy", "nm")
	dir := t.TempDir()
	for name, c := range map[string]struct {
		code   []byte
		labels map[string]uint64
	}{
		"guard": {guard, map[string]uint64{"asked": askedAt, "answered": answeredAt, "any": uint64(asksAny)}},
		"gate":  {gate, map[string]uint64{"after": gateAfter, "site": gateSite, "back": gateBack, "guard": gateGuard}},
		"door":  {door, map[string]uint64{"guard": doorGuard}},
	} {
		o, bin := filepath.Join(dir, name+".o"), filepath.Join(dir, name+".bin")
		for _, c := range [][]string{{"as", "-o", o, name + ".S"}, {"objcopy", "-O", "binary", "-j", ".text", o, bin}} {
			if msg, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", c, msg)
			}
		}
		if b, err := os.ReadFile(bin); err != nil || !bytes.Equal(b, c.code) {
			t.Errorf("%s.bin is not %s.S assembled: go generate", name, name)
		}
		out, err := exec.Command("nm", o).Output()
		if err != nil {
			t.Fatal(err)
		}
		at := func(label string) uint64 {
			m := regexp.MustCompile(`([0-9a-f]+) t ` + label + `\n`).FindSubmatch(out)
			if m == nil {
				t.Fatalf("no %s in %s.S", label, name)
			}
			v, _ := strconv.ParseUint(string(m[1]), 16, 64)
			return v
		}
		for label, want := range c.labels {
			if at(label) != want {
				t.Errorf("%s is at %#x of %s, not %#x", label, at(label), name, want)
			}
		}
		if name != "guard" {
			continue
		}
		for label, entry := range map[string]uint64{"all": uint64(asksAll), "self": uint64(asksSelf), "clone": uint64(asksClone), "clone3": uint64(asksClone3),
			"end": uint64(asksEnd), "ask": guardAsk} {
			if in, err := x86.Decode(guard[entry:], entry); err != nil || in.Kind != x86.Jmp || in.Target != at(label) {
				t.Errorf("no jump to %s at %#x", label, entry)
			}
		}
	}
}

// TestGuardAt: what is asked before which calls, and where there is no room.
func TestGuardAt(t *testing.T) {
	for _, c := range []struct {
		body string
		asks Asks // 0: nothing
	}{
		{"mov $13,%eax\nsyscall", asksAll}, {"mov $59,%eax\nsyscall", asksAll}, {"mov $231,%eax\nsyscall", asksAll}, {"mov $322,%eax\nsyscall", asksAll},
		{"mov $157,%eax\nsyscall", asksAll},
		{"mov $56,%eax\nsyscall", asksClone}, {"mov $435,%eax\nsyscall", asksClone3}, {"pop %rdi\nmov $58,%eax\nsyscall", asksSelf},
		{"mov $57,%eax\nsyscall", asksSelf}, {"mov $60,%eax\nsyscall", asksEnd},
		{"mov $60,%edx\n1: xor %edi,%edi\nmov %edx,%eax\nsyscall\njmp 1b", asksEnd},
		{"mov $60,%edx\n1: xor %edi,%edi\nmov %edx,%eax\n2: syscall\njmp 2b", asksNothing},
		{"mov $39,%eax\nsyscall", asksNothing}, {"mov $59,%eax\nxor %edi,%edi\nsyscall", asksNothing},
		{"test %edi,%edi\nje 1f\nmov $59,%eax\n1: syscall", asksNothing},
		{"mov $0x050f,%eax", asksNothing},
	} {
		im, _ := build(t, c.body)
		sites, ok := Guards(im)
		if ok {
			t.Errorf("%q is a C library", c.body)
		}
		switch {
		case c.asks == asksNothing && len(sites) == 0:
		case len(sites) == 1 && sites[0].Asks == c.asks && !sites[0].Timed && !sites[0].Entry:
		default:
			t.Errorf("%q: %+v", c.body, sites)
		}
	}
}

// TestUnguarded: what makes none of the guarded calls, for sure.
func TestUnguarded(t *testing.T) {
	for body, want := range map[string]bool{
		"nop": true, "mov $202,%eax\nsyscall": true, "mov $39,%eax\nsyscall": true, "mov $56,%eax\nsyscall": false, "mov $13,%eax\nsyscall": false,
		"mov %rdi,%rax\nsyscall": false, "mov $202,%r8d\nmov %r8d,%eax\nsyscall": true, "mov $202,%edi\nmov $57,%ecx\nmov %ecx,%eax\nsyscall": false,
		"mov $0x050f,%eax": true,
	} {
		if im, _ := build(t, body); Unguarded(im) != want {
			t.Errorf("%q: %v", body, !want)
		}
	}
}

// TestExitEntry: _exit is left at its beginning, where nothing jumps into what moves.
func TestExitEntry(t *testing.T) {
	for body, want := range map[string]int{
		"mov $231,%eax\nsyscall\nhlt": 1, "xor %eax,%eax\nmov %edi,%edx\nmov %edi,%ecx\nsyscall": 3, "xor %eax,%eax\n1: mov %edi,%edx\nmov %edi,%ecx\nsyscall\njmp 1b": 0,
		"call *%rax\nnop": 0, "jmp *%rax": 0, "nop\nnop\nnop\nnop\nnop\njmp *%rax": 0,
	} {
		im, _ := build(t, body)
		for i := range im.Funcs {
			im.Funcs[i].Name = "_exit"
		}
		x, ok := exitEntry(im)
		if ok != (want > 0) || ok && (len(x.Moved) != want || !x.Entry || x.After() != x.At || x.At-x.Start() < asm.JumpLen) {
			t.Errorf("%q: %v %+v", body, ok, x)
		}
	}
	if _, ok := exitEntry(&image.Image{}); ok {
		t.Error("found in nothing")
	}
}

// TestGuardsOfSystem: this system's C library, if it is the usual one.
func TestGuardsOfSystem(t *testing.T) {
	im, err := image.OpenLibrary("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		t.Skip("no C library where Debian has it: ", err)
	}
	guards, ok := Guards(im)
	if !ok {
		t.Skip("it is not one that is known")
	}
	asks := map[Asks]int{}
	both := Both(Find(im), guards)
	last := uint64(0)
	for _, x := range both {
		if x.Start() < last {
			t.Errorf("%#x is in two sites", x.Start())
		}
		last = x.After()
		asks[x.Asks]++
	}
	for _, a := range []Asks{asksNothing, asksAll, asksSelf, asksClone, asksClone3, asksEnd, asksAny} {
		if asks[a] == 0 {
			t.Errorf("nobody asks for %#x", a)
		}
	}
}

// TestAssembleGuards: gates and doors lead to guard.S, and behind the call.
func TestAssembleGuards(t *testing.T) {
	const bias, base = 0x7f0000000000, 0x7effff000000
	im, sites := build(t, "mov %rdi,%rax\nmov 8(%rsp),%r9\nsyscall\nmov $59,%eax\nsyscall\nmov $60,%edx\n1: xor %edi,%edi\nmov %edx,%eax\nsyscall\njmp 1b")
	if len(sites) != 1 {
		t.Fatalf("%d are timed", len(sites))
	}
	sites[0].Asks = asksAny
	guards, _ := Guards(im)
	im.Funcs[0].Name = "_exit"
	entry, ok := exitEntry(im)
	if !ok || len(guards) != 2 {
		t.Fatalf("%v, %d guards", ok, len(guards))
	}
	all := append(Both(sites, guards), entry)
	s, err := Assemble(base, Placed{all, bias})
	if err != nil {
		t.Fatal(err)
	}
	if uint64(len(s.Bytes)) > Size(len(all)) || !s.Asks(s.Base+s.guard+askedAt) || !s.Asking(s.Base+s.guard+askedAt) || s.Asking(s.Base+s.guard+answeredAt+1) || s.Asks(s.Ask()) || s.Ask() != s.Base+s.guard+guardAsk {
		t.Error("it asks elsewhere, or takes more than was promised")
	}
	for i, x := range all {
		j := s.Jumps[i]
		to, n := asm.JumpTarget(j.New, j.At)
		if n != asm.JumpLen || j.At != x.Start()+bias || !bytes.Equal(j.Old, im.Bytes(x.Start())[:asm.JumpLen]) {
			t.Errorf("% x at %#x are replaced by a jump to %#x", j.Old, j.At, to)
		}
		asks, back := false, false
		c := s.call(to)
		for a := to; a < base+c.end; {
			in, err := x86.Decode(s.Bytes[a-base:], a)
			if err != nil {
				t.Fatal(err)
			}
			asks = asks || in.Kind == x86.Jmp && in.Target == base+s.guard+uint64(x.Asks)
			back = back || in.Kind == x86.Jmp && in.Target == x.After()+bias
			if got, ok := s.Origin(a); !ok || got != x.After()+bias {
				t.Errorf("%#x stands for %#x, want %#x", a, got, x.After()+bias)
			}
			if got, ok := s.Interrupted(a); ok != (!x.Entry && x.At-x.Start() >= asm.JumpLen && (a == base+c.at || a == base+c.at-syscallLen)) {
				t.Errorf("a signal at %#x finds %#x", a, got)
			}
			a = in.End()
		}
		if !asks || !back {
			t.Errorf("site %d asks: %v; goes back: %v", i, asks, back)
		}
	}
	var none *Stubs
	if none.Asks(base) {
		t.Error("nobody asks for something")
	}
}
