package placement

import (
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestInductionCounts walks at random through functions with induction
// counters, with registers that hold anything, and compares what the counters
// say with how often their blocks ran.
func TestInductionCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	counters, ran := 0, 0
	graphs(t, func(g *cfg.Graph, excluded []Exclusion) {
		w := Place(g, excluded, nil, 0, probe.Options{}, nil)
		has := false
		for i := range w.Edges {
			has = has || w.Edges[i].Induction != nil
		}
		if !has {
			return
		}
		s := &simulation{r: r, w: w, counter: make([]uint64, w.Next), blocks: make([]int64, len(g.Blocks))}
		for range 5 {
			s.walk()
		}
		for _, b := range g.Blocks {
			e := &w.Edges[w.Block(b)]
			if e.Induction == nil {
				continue
			}
			if e.Tree || e.Counter < 0 || e.Induction.Reg == x86.RSP || !e.Induction.Loop.Has(b) {
				t.Fatalf("%s: %+v", g.Name, e)
			}
			counters++
			if s.blocks[b.ID] > 0 {
				ran++
			}
			if got := int64(s.counter[e.Counter]); got != s.blocks[b.ID]*e.Induction.Step {
				t.Fatalf("%s: the block at %#x ran %d times, counted as %d in steps of %d", g.Name, b.Start, s.blocks[b.ID], got, e.Induction.Step)
			}
		}
	})
	if ran < 100 {
		t.Errorf("only %d of %d induction counters were tried", ran, counters)
	}
}

// simulation is a thread with 16 registers. Of instructions it knows what
// increments a register and what sets one to 0; all others that write one
// leave anything there.
type simulation struct {
	r       *rand.Rand
	w       *Network
	regs    [16]uint64
	counter []uint64
	blocks  []int64
}

// walk goes from the function's entry until it has left all loops; where that
// takes too long, as if it had not begun.
func (s *simulation) walk() {
	counter, blocks := append([]uint64(nil), s.counter...), append([]int64(nil), s.blocks...)
	for i := range s.regs {
		s.regs[i] = s.r.Uint64()
	}
	e := s.w.Graph.Edges[0]
	for range 5000 {
		for _, u := range s.w.Updates(e) {
			if u.Add {
				s.counter[u.Counter] += s.regs[u.Reg]
			} else {
				s.counter[u.Counter] -= s.regs[u.Reg]
			}
		}
		if e.To == nil {
			return
		}
		s.execute(e.To)
		e = e.To.Succ[s.r.IntN(len(e.To.Succ))]
	}
	s.counter, s.blocks = counter, blocks
}

func (s *simulation) execute(b *cfg.Block) {
	s.blocks[b.ID]++
	for i := range b.Insns {
		in := &b.Insns[i]
		if r, step, ok := increment(in); ok {
			s.regs[r] += uint64(step)
			continue
		}
		for r := range s.regs {
			if in.Def&x86.Reg(r).Set() != 0 {
				s.regs[r] = s.r.Uint64()
				if in.Vex == 0 && in.Map == 0 && in.Opcode == 0x31 && !in.HasMem && in.Reg == in.RM {
					s.regs[r] = 0
				}
			}
		}
	}
}

// TestIncrement recognises r += step, and nothing that is only like it.
func TestIncrement(t *testing.T) {
	for _, x := range []struct {
		code string
		reg  x86.Reg
		step int64
	}{
		{"\x48\x83\xc0\x01", x86.RAX, 1},
		{"\x49\x81\xc5\x00\x01\x00\x00", x86.R13, 256},
		{"\x48\x83\xe9\x08", x86.RCX, -8},
		{"\x48\xff\xc6", x86.RSI, 1},
		{"\x49\xff\xc8", x86.R8, -1},
		{"\x48\x8d\x5b\x10", x86.RBX, 16},
		{"\x83\xc0\x01", 0, 0},                 // 32 bits wrap
		{"\x48\x83\xc4\x08", 0, 0},             // the stack pointer
		{"\x48\x83\x00\x01", 0, 0},             // memory
		{"\x48\x83\xc0\x00", 0, 0},             // no step
		{"\x48\x8d\x5c\x0b\x10", 0, 0},         // another register too
		{"\x48\x83\xc8\x01", 0, 0},             // or
		{"\x67\x48\x8d\x5b\x10", 0, 0},         // 32-bit addresses
		{"\xf0\x48\x83\x00\x01", 0, 0},         // locked
		{"\x66\x48\x0f\x6e\xc0", 0, 0},         // of another map
		{"\xc5\xf9\x6e\xc0", 0, 0},             // vector
		{"\x48\x8d\x1d\x10\x00\x00\x00", 0, 0}, // relative to rip
	} {
		in, err := x86.Decode([]byte(x.code+"\x90\x90\x90\x90"), 0x1000)
		if err != nil {
			t.Fatalf("% x: %v", x.code, err)
		}
		if r, step, ok := increment(&in); ok != (x.step != 0) || ok && (r != x.reg || step != x.step) {
			t.Errorf("% x is register %d += %d, %v; want %d += %d", x.code, r, step, ok, x.reg, x.step)
		}
	}
}
