package asm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// encode assembles one instruction at an address.
func encode(t *testing.T, at uint64, write func(a *Assembler)) []byte {
	t.Helper()
	a := New(at)
	write(a)
	a.Link()
	if a.Err() != nil {
		t.Fatal(a.Err())
	}
	return a.Bytes()
}

// TestEncodingsDecode reads every instruction back.
func TestEncodingsDecode(t *testing.T) {
	for _, x := range encodings {
		b := encode(t, base, x.write)
		in, err := x86.Decode(append(slices.Clone(b), 0x90), base)
		if err != nil || in.Len() != len(b) {
			t.Errorf("%s: % x is read as %d bytes, %v", x.text, b, in.Len(), err)
			continue
		}
		if got := describe(&in); got != x.decoded {
			t.Errorf("%s: % x is read as %q, want %q", x.text, b, got, x.decoded)
		}
	}
}

// TestEncodingsAreObjdumps compares with what another disassembler reads.
func TestEncodingsAreObjdumps(t *testing.T) {
	proctest.Need(t, "objdump")
	var code []byte
	var want []string
	for _, x := range encodings {
		at := base + uint64(len(code))
		b := encode(t, at, x.write)
		code = append(code, b...)
		text := x.text
		if in, err := x86.Decode(b, at); err == nil && in.Mem.RIP {
			text = strings.Replace(text, "0x@", fmt.Sprintf("%#x(%%rip)", in.Mem.Disp), 1)
		}
		want = append(want, fmt.Sprintf("%x: %s", at, text))
	}
	got := disassemble(t, code)
	if !slices.Equal(got, want) {
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Fatalf("objdump reads %q, want %q", got[i:min(i+1, len(got))], want[i])
			}
		}
		t.Fatalf("objdump reads %d instructions, want %d", len(got), len(want))
	}
}

// disassemble is objdump's text of some code at base, an instruction a line.
func disassemble(t *testing.T, code []byte) (list []string) {
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-D", "-w", "-b", "binary", "-m", "i386:x86-64", "--no-show-raw-insn", fmt.Sprintf("--adjust-vma=%#x", base), file).Output()
	if err != nil {
		t.Fatal(err)
	}
	comment, space := regexp.MustCompile(`\s*#.*`), regexp.MustCompile(`\s+`)
	for _, line := range strings.Split(string(out), "\n") {
		if m := regexp.MustCompile(`^\s*([0-9a-f]+):\s+(.*)`).FindStringSubmatch(line); m != nil {
			list = append(list, m[1]+": "+strings.TrimSpace(space.ReplaceAllString(comment.ReplaceAllString(m[2], ""), " ")))
		}
	}
	return list
}

// randomState is one where memory, registers and flags hold anything, but for
// what instructions take for addresses.
func randomState(r *rand.Rand) *state {
	s := &state{}
	s.Memory = make([]byte, memBytes)
	for i := range s.Memory {
		s.Memory[i] = byte(r.Uint32())
	}
	for i := range s.Regs {
		s.Regs[i] = r.Uint64()
	}
	s.Regs[x86.RSP] = memory + 0x800
	s.Regs[x86.R13] = memory + 0x400
	s.Flags = x86.Flags(r.Uint32()) & x86.AllFlags
	switch r.IntN(6) { // the borders of what flags tell
	case 0:
		s.put(1<<63 - 1)
	case 1:
		s.put(^uint64(0))
	case 2:
		s.put(s.Regs[x86.R11])
	case 3:
		s.setAL(1) // as seto leaves it
	}
	return s
}

func (s *state) clone() *state {
	c := *s
	c.Memory = slices.Clone(s.Memory)
	return &c
}

// run runs code in a child process and compares what it leaves with what it should.
func run(t *testing.T, what string, code []byte, in, want *state) {
	t.Helper()
	got, sig := probetest.Run(t, code, 0, in.State)
	if sig != 0 {
		t.Errorf("%s: % x ends by %v", what, code, sig)
		return
	}
	for r := range got.Regs {
		if got.Regs[r] != want.Regs[r] {
			t.Errorf("%s: register %d is %#x, want %#x (was %#x)", what, r, got.Regs[r], want.Regs[r], in.Regs[r])
		}
	}
	if got.Flags != want.Flags {
		t.Errorf("%s: flags are %b, want %b (were %b)", what, got.Flags, want.Flags, in.Flags)
	}
	if !bytes.Equal(got.Memory, want.Memory) {
		for i := range got.Memory {
			if got.Memory[i] != want.Memory[i] {
				t.Errorf("%s: memory differs from +%#x on", what, i)
				break
			}
		}
	}
}

// TestEncodingsExecute runs every instruction on the processor.
func TestEncodingsExecute(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, x := range encodings {
		for n := 0; n < 8 && x.does != nil; n++ {
			in := randomState(r)
			want := in.clone()
			x.does(want)
			run(t, x.text, encode(t, base, x.write), in, want)
		}
	}
}

// TestInt3 stops.
func TestInt3(t *testing.T) {
	if _, sig := probetest.Run(t, encode(t, base, (*Assembler).Int3), 0, randomState(rand.New(rand.NewPCG(1, 1))).State); sig != syscall.SIGTRAP {
		t.Errorf("int3 ends by %v", sig)
	}
}

// TestLongNops: as many no-ops as bytes are asked for, none of them broken.
func TestLongNops(t *testing.T) {
	in := randomState(rand.New(rand.NewPCG(2, 2)))
	for n := range 40 {
		b := encode(t, base, func(a *Assembler) { a.Nop(n) })
		if len(b) != n {
			t.Errorf("%d bytes of no-ops are %d", n, len(b))
		}
		run(t, fmt.Sprint(n, " bytes of no-ops"), b, in, in)
	}
}

// TestHome: what is said behind a copy is read again, and does nothing; other no-ops say
// nothing.
func TestHome(t *testing.T) {
	in := randomState(rand.New(rand.NewPCG(3, 3)))
	for _, addr := range []uint64{base - 1<<12, base - 1, base, base + 7, base + 1<<30} {
		b := encode(t, base, func(a *Assembler) { a.Home(addr) })
		if got, ok := HomeOf(b, base); got != addr || !ok || len(b) != HomeLen {
			t.Errorf("%#x is read as %#x (%v)", addr, got, ok)
		}
		run(t, "home", b, in, in)
	}
	for _, b := range [][]byte{nil, {0x0f, 0x1f, 0x80, 0, 0, 0}, {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, {0x0f, 0x1f, 0x40, 0, 0x90, 0x90, 0x90}} {
		if addr, ok := HomeOf(b, base); ok {
			t.Errorf("% x says %#x", b, addr)
		}
	}
}

// TestLoadTargetRefuses operands whose address or size would be another.
func TestLoadTargetRefuses(t *testing.T) {
	for _, hex := range []string{"64ff142500000000", "65ff10", "67ff10", "90"} {
		in := original(hex, 0)
		if a := New(base); a.LoadTarget(x86.R11, &in) || a.Len() > 0 {
			t.Errorf("the target of %s is loaded by % x", hex, a.Bytes())
		}
	}
}

// TestOutOfReach: displacements that do not fit are errors.
func TestOutOfReach(t *testing.T) {
	for name, write := range map[string]func(a *Assembler){
		"jmp":         func(a *Assembler) { a.JmpTo(base + 1<<31 + 5) },
		"call":        func(a *Assembler) { a.CallThrough(base + 1<<40) },
		"copy":        func(a *Assembler) { in := original("488b05", memory); in.RIPTarget += 1 << 32; a.Copy(&in) },
		"label":       func(a *Assembler) { a.Jmp(a.Labels(1)); a.Link() },
		"address":     func(a *Assembler) { a.Addr(a.Labels(1)) },
		"twice wrong": func(a *Assembler) { a.Fail("first"); a.Fail("second") },
	} {
		a := New(base)
		if write(a); a.Err() == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(a.Err().Error(), "second") {
			t.Errorf("%s: the second error is told", name)
		}
	}
	a := New(base)
	if a.JmpTo(base + 1<<31 + 4); a.Err() != nil {
		t.Error(a.Err())
	}
}
