package asm

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Branches are run by what they pass: each way through the code adds another
// bit to rdi.
func pass(a *Assembler, bit int) { a.AddImm8(x86.RDI, 1<<bit) }

// branches are codes that control goes through, and the ways that it takes.
var branches = []struct {
	name  string
	write func(a *Assembler)
	want  uint64 // of rdi
	size  int    // in bytes, of all of it
}{
	{"jmp forward", func(a *Assembler) {
		l := a.Labels(1)
		a.Jmp(l)
		pass(a, 0)
		a.Bind(l)
		pass(a, 1)
	}, 2, 5 + 4 + 4},
	{"jmp back, near enough for two bytes", func(a *Assembler) {
		l := a.Labels(2)
		a.Jmp(l + 1)
		a.Bind(l)
		pass(a, 0)
		end := a.Labels(1)
		a.Jmp(end)
		a.Nop(126 - 4 - 5)
		a.Bind(l + 1)
		a.Jmp(l)
		a.Bind(end)
	}, 1, 5 + 126 + 2},
	{"jmp back, a byte too far", func(a *Assembler) {
		l := a.Labels(2)
		a.Jmp(l + 1)
		a.Bind(l)
		pass(a, 0)
		end := a.Labels(1)
		a.Jmp(end)
		a.Nop(127 - 4 - 5)
		a.Bind(l + 1)
		a.Jmp(l)
		a.Bind(end)
	}, 1, 5 + 127 + 5},
	{"call and ret", func(a *Assembler) {
		l := a.Labels(2)
		a.Call(l)
		pass(a, 0)
		a.Jmp(l + 1)
		a.Bind(l)
		pass(a, 1)
		a.Ret()
		a.Bind(l + 1)
	}, 3, 5 + 4 + 5 + 4 + 1},
	{"call and jmp to addresses", func(a *Assembler) {
		a.CallTo(base + 5 + 4 + 5)
		pass(a, 0)
		a.JmpTo(base + 5 + 4 + 5 + 4 + 1)
		pass(a, 1)
		a.Ret()
	}, 3, 5 + 4 + 5 + 4 + 1},
	{"call through a slot", func(a *Assembler) { // slot holds base + 32
		a.CallThrough(memory + slot)
		pass(a, 0)
		end := a.Labels(1)
		a.Jmp(end)
		a.Nop(32 - a.Len())
		pass(a, 1)
		a.Ret()
		a.Bind(end)
	}, 3, 32 + 5},
	{"jmp to a register", func(a *Assembler) {
		a.Push(x86.R11)
		a.LoadGS(x86.R11, slot)
		a.JmpReg(x86.R11)
		pass(a, 0)
		a.Nop(32 - a.Len())
		pass(a, 1)
		a.Pop(x86.R11)
	}, 2, 32 + 4 + 2},
	{"jmp through a slot", func(a *Assembler) {
		a.JmpThrough(memory + slot)
		pass(a, 0)
		a.Nop(32 - a.Len())
		pass(a, 1)
	}, 2, 32 + 4},
	{"scopes: labels of functions, a call from one to the other", func(a *Assembler) {
		f := a.Labels(2)
		a.Jmp(f + 1)
		a.BeginScope()
		a.Bind(f)
		l := a.Labels(1)
		pass(a, 0)
		a.Jmp(l)
		a.Int3()
		a.Bind(l)
		a.Ret()
		a.EndScope()
		a.BeginScope()
		a.Bind(f + 1)
		l = a.Labels(1)
		a.Jmp(l)
		a.Int3()
		a.Bind(l)
		a.Call(f)
		pass(a, 1)
		a.EndScope()
	}, 3, 5 + 4 + 5 + 1 + 1 + 5 + 1 + 5 + 4},
	{"jump over written bytes", func(a *Assembler) { // springboard, island
		b := ShortJump(base, base+20)
		a.Raw(b[:]...)
		for a.Len() < 20 {
			a.Int3()
		}
		j := Jump(base+20, base+32)
		a.Raw(j[:]...)
		for a.Len() < 32 {
			a.Int3()
		}
		pass(a, 0)
	}, 1, 36},
	{"data between", func(a *Assembler) {
		l := a.Labels(1)
		a.Jmp(l)
		a.Quad(0xcccccccccccccccc)
		a.Bind(l)
		pass(a, 0)
	}, 1, 5 + 8 + 4},
}

func TestBranchesExecute(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, x := range branches {
		code := encode(t, base, x.write)
		if len(code) != x.size {
			t.Errorf("%s: %d bytes, want %d", x.name, len(code), x.size)
		}
		in := randomState(r)
		in.Regs[x86.RDI] = 0
		in.setAt(memory+slot, base+32)
		want := in.clone()
		want.Regs[x86.RDI] = x.want
		ranSame(t, x.name, code, in, want)
	}
}

// ranSame is run, but for flags and what lies below the stack pointer.
func ranSame(t *testing.T, what string, code []byte, in, want *state) {
	t.Helper()
	a := New(base + uint64(len(code))) // makes both known
	a.Push(x86.RAX)
	a.Pop(x86.RAX)
	end := want.clone()
	end.setAt(end.Regs[x86.RSP]-8, end.Regs[x86.RAX])
	a.SubImm8(x86.RDI, 0)
	end.sub(end.Regs[x86.RDI], 0)
	run(t, what, append(code, a.Bytes()...), in, end)
}

// holds says when a conditional jump is taken.
var holds = [16]func(f x86.Flags) bool{
	0x0: func(f x86.Flags) bool { return f&x86.OF != 0 },
	0x2: func(f x86.Flags) bool { return f&x86.CF != 0 },
	0x4: func(f x86.Flags) bool { return f&x86.ZF != 0 },
	0x6: func(f x86.Flags) bool { return f&(x86.CF|x86.ZF) != 0 },
	0x8: func(f x86.Flags) bool { return f&x86.SF != 0 },
	0xa: func(f x86.Flags) bool { return f&x86.PF != 0 },
	0xc: func(f x86.Flags) bool { return (f&x86.SF != 0) != (f&x86.OF != 0) },
	0xe: func(f x86.Flags) bool { return f&x86.ZF != 0 || (f&x86.SF != 0) != (f&x86.OF != 0) },
}

// TestConditionsExecute takes, or not, all sixteen conditional jumps, forward
// (six bytes), back (two) and to an address, for all flags. What they pass is
// counted by instructions that keep the flags.
func TestConditionsExecute(t *testing.T) {
	if NotEqual != 5 {
		t.Error("NotEqual is not the condition of jne")
	}
	a := New(base)
	note := func(n int) { // memory[n]++, of bytes that start at 0
		a.Push(x86.RAX)
		a.Lahf()
		a.SetoAL()
		a.IncGS(uint32(8 * n))
		a.AddAL(127)
		a.Sahf()
		a.Pop(x86.RAX)
	}
	for cc := range byte(16) {
		l := a.Labels(6)
		n := int(cc) * 3
		a.Jcc(cc, l) // forward
		note(n)
		a.Bind(l)
		a.Jmp(l + 2)
		a.Bind(l + 1) // taken back
		a.Jmp(l + 3)
		a.Bind(l + 2)
		from := a.Len()
		a.Jcc(cc, l+1)
		if a.Len()-from != 2 {
			t.Errorf("condition %d back takes %d bytes", cc, a.Len()-from)
		}
		note(n + 1)
		a.Bind(l + 3)
		a.JccTo(cc, a.PC()+6+18)
		from = a.Len()
		note(n + 2)
		if a.Len()-from != 18 {
			t.Fatalf("%d bytes", a.Len()-from)
		}
	}
	a.Link()
	a.Push(x86.RAX) // where nothing was
	a.Pop(x86.RAX)
	code := a.Bytes()
	if a.Err() != nil {
		t.Fatal(a.Err())
	}
	r := rand.New(rand.NewPCG(5, 6))
	for f := range x86.AllFlags + 1 {
		in := randomState(r)
		in.Flags = f
		clear(in.Memory)
		want := in.clone()
		for cc := range 16 {
			taken := holds[cc&^1](f) != (cc&1 == 1)
			for k := range 3 {
				if !taken {
					want.Memory[8*(3*cc+k)]++
				}
			}
		}
		want.setAt(want.Regs[x86.RSP]-8, want.Regs[x86.RAX])
		run(t, "conditions", code, in, want)
	}
}

// TestLoopsExecute runs jrcxz and loop, which jump to where others do not reach.
func TestLoopsExecute(t *testing.T) {
	for _, x := range []struct {
		name, hex string
		rcx       uint64
		taken     bool
		left      uint64
	}{
		{"jrcxz", "e300", 0, true, 0},
		{"jrcxz", "e300", 7, false, 7},
		{"loop", "e200", 2, true, 1},
		{"loop", "e200", 1, false, 0},
	} {
		in := original(x.hex, 0)
		code := encode(t, base, func(a *Assembler) {
			l := a.Labels(2)
			a.CopyLoop(&in, l)
			pass(a, 0)
			a.Jmp(l + 1)
			a.Nop(1000)
			a.Bind(l)
			pass(a, 1)
			a.Bind(l + 1)
		})
		s := randomState(rand.New(rand.NewPCG(9, 9)))
		s.Regs[x86.RDI], s.Regs[x86.RCX] = 0, x.rcx
		want := s.clone()
		want.Regs[x86.RDI], want.Regs[x86.RCX] = 1, x.left
		if x.taken {
			want.Regs[x86.RDI] = 2
		}
		ranSame(t, x.name, code, s, want)
	}
}

// TestJumpTargetInvertsJumps: what was written over code is found again.
func TestJumpTargetInvertsJumps(t *testing.T) {
	for _, d := range []int64{-128, -1, 0, 1, 127} {
		to := uint64(int64(base) + 2 + d)
		b := ShortJump(base, to)
		if got, n := JumpTarget(b[:], base); got != to || n != ShortJumpLen {
			t.Errorf("% x leads to %#x in %d bytes, want %#x", b, got, n, to)
		}
	}
	for _, d := range []int64{-1 << 31, -1, 0, 1 << 20, 1<<31 - 1} {
		to := uint64(int64(base) + 5 + d)
		b := Jump(base, to)
		if got, n := JumpTarget(b[:], base); got != to || n != JumpLen {
			t.Errorf("% x leads to %#x in %d bytes, want %#x", b, got, n, to)
		}
		if in, err := x86.Decode(b[:], base); err != nil || in.Target != to {
			t.Errorf("% x is read as a jump to %#x, want %#x", b, in.Target, to)
		}
		if r := Relative(base+5, to); binary.LittleEndian.Uint32(r[:]) != binary.LittleEndian.Uint32(b[1:]) {
			t.Errorf("the displacement to %#x is % x", to, r)
		}
	}
	for _, b := range [][]byte{nil, {0xeb}, {0xe9, 0, 0, 0}, {0x90, 0x90, 0x90, 0x90, 0x90}} {
		if _, n := JumpTarget(b, base); n != 0 {
			t.Errorf("% x is taken for a jump of %d bytes", b, n)
		}
	}
}

func TestAddresses(t *testing.T) {
	a := New(base)
	a.Grow(100)
	l := a.Labels(1)
	a.Nop(7)
	a.Bind(l)
	if a.Addr(l) != base+7 || a.PC() != base+7 || a.Len() != 7 {
		t.Errorf("the label is at %#x, the next byte at %#x", a.Addr(l), a.PC())
	}
}
