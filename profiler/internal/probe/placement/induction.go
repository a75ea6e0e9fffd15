package placement

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Induction says that a loop counts for a block of it. Where a register
// changes in a loop by nothing but one r += step, the loop counts already: r's
// change from the loop's entry to its exit, divided by step, is how often that
// instruction's block ran. The entry edges subtract r from the counter, the
// exit edges add it, and the loop itself runs at full speed. (Zagha's and
// others' trick for loop counters; it takes LU's inner loop from +56 % to +1 %.)
//
// The sum is exact modulo 2⁶⁴ as long as no thread is looked at inside the
// loop: there is no call in it, so no section ends there, and a thread that
// dies in one is put right by the register's last value (Solver.ActiveLoops). A
// handler that jumps out of the loop for good would break it; programs that
// can do that (siglongjmp, cancellation) are counted without.
//
// Only 64-bit registers qualify: a 32-bit one wraps, and then the difference
// of two values is not the distance between them. And only loops with flags
// dead on all their edges, where adding to memory disturbs nothing.
type Induction struct {
	Loop *cfg.Loop
	Reg  x86.Reg
	Step int64 // what the counter grows by for each time the block ran
}

// Update is what an edge into or out of such a loop does to the counter.
type Update struct {
	Counter int32
	Reg     x86.Reg
	Add     bool // on leaving the loop; else subtract
}

// Updates are what an edge of the graph does to the counters of loops.
func (w *Network) Updates(e *cfg.Edge) []Update { return w.updates[e] }

// inductionFor returns the largest loop in which a block can be counted so,
// and what that would cost.
func (w *Network) inductionFor(b *cfg.Block) (*Induction, float64) {
	var best *Induction
	cost := 0.0
	for i := range b.Insns {
		r, step, ok := increment(&b.Insns[i])
		if !ok {
			continue
		}
		var largest *Induction
		c := 0.0
		for l := b.Loop; l != nil; l = l.Parent {
			x, fits := w.loopCost(l)
			if !fits || changes(l, r) != 1 {
				break
			}
			largest, c = &Induction{l, r, step}, x
		}
		if largest == nil {
			continue
		}
		w.boundary(largest.Loop, func(e *cfg.Edge, out bool) {
			if !out && beginsAtZero(e, r) {
				c -= e.Freq * 1.1
			}
		})
		if best == nil || c < cost {
			best, cost = largest, c
		}
	}
	return best, cost
}

// beginsAtZero reports whether a register is surely 0 on an edge: then there
// is nothing to subtract. Loops that count from 0 are the most common.
func beginsAtZero(e *cfg.Edge, r x86.Reg) bool {
	b := e.From
	for n := 0; b != nil && n < 8; n++ {
		for i := len(b.Insns) - 1; i >= 0; i-- {
			if in := &b.Insns[i]; in.Def&r.Set() != 0 {
				// xor of a 32- or 64-bit register with itself
				return in.Vex == 0 && in.Map == 0 && (in.Opcode == 0x31 || in.Opcode == 0x33) && !in.HasMem && !in.Opsize && in.Reg == r && in.RM == r
			}
		}
		if len(b.Pred) != 1 {
			return false
		}
		b = b.Pred[0].From
	}
	return false
}

// increment recognises r += step on a 64-bit register.
func increment(in *x86.Insn) (r x86.Reg, step int64, ok bool) {
	if in.Vex != 0 || in.Map != 0 || in.Rex&8 == 0 || in.Opsize || in.Lock {
		return
	}
	n, adds := in.Adds()
	switch {
	case adds && in.Opcode&1 != 0 && !in.HasMem: // else it is of a byte
		r, step = in.RM, n
	case in.Opcode == 0x8d && in.Mem.Base == in.Reg && in.Mem.Index == x86.None && !in.Mem.RIP && !in.Mem.Addr32:
		r, step = in.Reg, int64(in.Mem.Disp)
	default:
		return
	}
	return r, step, step != 0 && r != x86.RSP
}

// changes counts the instructions of a loop that may write a register.
func changes(l *cfg.Loop, r x86.Reg) (n int) {
	for _, b := range l.Blocks {
		for i := range b.Insns {
			if b.Insns[i].Def&r.Set() != 0 {
				n++
			}
		}
	}
	return n
}

// loopCost is how often a loop's edges to and from outside run. fits is false
// where code on them is impossible: calls in the loop, arrivals that cannot be
// told apart, live flags.
func (w *Network) loopCost(l *cfg.Loop) (cost float64, fits bool) {
	if c, ok := w.loops[l]; ok {
		return c, c >= 0
	}
	if w.loops == nil {
		w.loops = map[*cfg.Loop]float64{}
	}
	w.loops[l] = -1
	if w.looks && Looks(l) {
		return 0, false
	}
	for _, b := range l.Blocks {
		if b.Enters || b.Leaves || len(b.Calls) > 0 || b.Last().Kind == x86.JmpInd || b.Last().Kind == x86.Jrcxz {
			return 0, false
		}
	}
	bad := false
	w.boundary(l, func(e *cfg.Edge, _ bool) {
		i := w.ofEdge[e.ID]
		live := x86.Flags(0)
		if e.To != nil {
			live = e.To.LiveIn
		}
		if i < 0 || w.Edges[i].uncountable || live != 0 || e.Kind == cfg.Pad {
			bad = true
			return
		}
		cost += e.Freq * 1.1
	})
	if bad {
		return 0, false
	}
	w.loops[l] = cost
	return cost, true
}

// boundary calls do for every edge into the loop and out of it.
func (w *Network) boundary(l *cfg.Loop, do func(e *cfg.Edge, out bool)) {
	for _, b := range l.Blocks {
		for _, e := range b.Succ {
			if e.To == nil || !l.Has(e.To) {
				do(e, true)
			}
		}
		for _, e := range b.Pred {
			if e.From == nil || !l.Has(e.From) {
				do(e, false)
			}
		}
	}
}

// attach puts the code of an induction counter on the loop's edges.
func (w *Network) attach(e *Edge) {
	if w.updates == nil {
		w.updates = map[*cfg.Edge][]Update{}
	}
	v := e.Induction
	w.boundary(v.Loop, func(x *cfg.Edge, out bool) {
		if !out && beginsAtZero(x, v.Reg) {
			return
		}
		w.updates[x] = append(w.updates[x], Update{e.Counter, v.Reg, out})
	})
}
