package unwind

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// piece is what a recorder would have copied when stop() was called.
func (s *stopped) piece(t *testing.T, u *Unwinder, words int) *Piece {
	t.Helper()
	l := u.at(s.regs[regPC])
	fde, err := l.m.fdes.FDEForPC(s.regs[regPC] - l.bias)
	if err != nil {
		t.Fatal(err)
	}
	r, _, ok := u.step(s.regs, fde, s.regs[regPC]-l.bias)
	if !ok {
		t.Fatal("stop() has no caller")
	}
	p := &Piece{Regs: r, Words: make([]byte, 8*words)}
	for i := range words {
		if s.p.Read(p.Words[8*i:8*i+8], r[regSP]+uint64(8*i)) != nil {
			p.Words = p.Words[:8*i]
			break
		}
	}
	return p
}

// TestChains unwinds copies as it unwinds stacks, and again by what it knows.
func TestChains(t *testing.T) {
	for _, f := range flavours {
		t.Run(f.name, func(t *testing.T) {
			prog := proctest.Build(t, f.compiler, append(strings.Fields(f.flags), "-fno-optimize-sibling-calls", "-pthread", "-fasynchronous-unwind-tables", "testdata/stack.c")...)
			for _, kind := range []string{"chain", "dynamic", "aligned", "busy", "recursive", "callback", "thread"} {
				t.Run(kind, func(t *testing.T) {
					s := stop(t, prog, kind)
					u := New(s.p)
					u.SetMappings(s.maps)
					frames, _ := u.Stack(s.regs)
					var want []uint64
					for _, x := range frames[1:] {
						want = append(want, x.PC)
					}
					p := s.piece(t, u, 4096)
					c := NewChains(u)
					first := c.Of(p)
					if !slices.Equal(first.Returns, want) {
						t.Fatalf("returns to %#x, want %#x", first.Returns, want)
					}
					if kind != "aligned" && kind != "dynamic" && c.Of(p) != first {
						t.Error("walked again")
					}
					checkCopies(t, c, p, want)
				})
			}
		})
	}
}

// checkCopies asks for what differs from a piece in one word, moved to another
// stack, or shorter.
func checkCopies(t *testing.T, c *Chains, p *Piece, want []uint64) {
	t.Helper()
	again := func(q *Piece) []uint64 { return NewChains(c.u).Of(q).Returns }
	for at := 0; at+8 <= min(len(p.Words), 1024); at += 8 {
		q := &Piece{p.Regs, slices.Clone(p.Words)}
		binary.LittleEndian.PutUint64(q.Words[at:], 0x123456)
		if got, want := c.Of(q).Returns, again(q); !slices.Equal(got, want) {
			t.Fatalf("with another word at %d: returns to %#x, want %#x", at, got, want)
		}
	}
	for _, n := range []int{0, 64, 256} {
		q := &Piece{p.Regs, p.Words[:min(n, len(p.Words))]}
		got := c.Of(q).Returns
		if !slices.Equal(got, again(q)) || len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("of %d bytes: returns to %#x, want a part of %#x", n, got, want)
		}
	}
	if got := c.Of(p).Returns; !slices.Equal(got, want) {
		t.Errorf("afterwards it returns to %#x", got)
	}
}

// TestChainsOfUnknownCode end there, and are found again once it is known.
func TestChainsOfUnknownCode(t *testing.T) {
	c := NewChains(New(nil))
	p := &Piece{Regs: Regs{regPC: 0x1000, regSP: stackAt}}
	if x := c.Of(p); x.Lost != 0x1000 || !slices.Equal(x.Returns, []uint64{0x1000}) || c.Of(p) != x {
		t.Errorf("%+v", x)
	}
	x := c.Of(p)
	if c.Forget(); c.Of(p) == x {
		t.Error("it was not forgotten")
	}
	c.u.Original = func(pc uint64, _ bool) uint64 { return pc + 7 }
	c.Forget()
	if x := c.Of(p); x.Lost != 0x1007 {
		t.Errorf("translated: %+v", x)
	}
}
