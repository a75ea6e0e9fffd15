package solve

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// frame is where a thread ended in a function: a node of its network.
type frame struct {
	fn   int32
	node int32
}

// ActiveFrame returns a delta for a frame that its thread never left.
// Addresses are the profile's. The thread stood somehow at the instruction at
// addr; who stood after it may be in the call that it makes. next is the
// address that would have come next in its block; 0 where the block ends
// there. ok is false where no frame stays active: the address is not in a
// moved function, or the graph has an edge for this end.
func (v *Solver) ActiveFrame(addr uint64, how relocate.How) (d record.Delta, next uint64, ok bool) {
	q, m, addr := v.planAt(addr)
	if q == nil || how == relocate.Left || how == relocate.Nowhere {
		return d, 0, false
	}
	after := how.Executed()
	x, g := v.load(q.Number), m.Spec.Program.Blocks(q.Func, &v.space)
	b := g.BlockOf(addr)
	if b == nil || after && endsInCall(b, addr) {
		return d, 0, false
	}
	if i, counted, on := how.On(); on {
		g.Shape()
		w := m.Spec.Counters(q, g, &v.network)
		if e := &w.Edges[i]; e.Counter >= 0 && counted > len(updates(w, e.Way(), true)) {
			return v.arrived(q, m, e.Way().To)
		}
	}
	switch how {
	case relocate.Arrives:
		d, next, _ = v.arrived(q, m, b)
		return d, next, b.Start == addr
	case relocate.Chosen:
		g.Shape()
		w := m.Spec.Counters(q, g, &v.network)
		return record.Delta{Counter: -1 - v.frameNumber(frame{q.Number, w.Edges[w.FromHub(b)].From}), N: 1}, addr + m.Base, b.Start == addr
	}
	// The block counts as entered once its counter was passed.
	node := placement.Out(b)
	next = addr
	k := 0
	for k < len(b.Insns) && b.Insns[k].End() <= addr {
		k++
	}
	if after {
		next = b.Insns[k].End()
		k++
	}
	if !after || !b.Insns[k-1].Kind.IsCall() { // nobody counts behind a call
		g.Shape()
		at, _ := placement.CountingPoint(b)
		if x.edges[x.block(b.ID)].counter >= 0 && (k < at || after && k == at) {
			node = placement.In(b)
		}
	}
	d = record.Delta{Counter: -1 - v.frameNumber(frame{q.Number, node}), N: 1}
	if next == b.End {
		return d, 0, true
	}
	return d, next + m.Base, true
}

// arrived is ActiveFrame where the thread has come to a block of which nothing is counted
// yet; nil: it has left the function.
func (v *Solver) arrived(q *relocate.Plan, m *Module, b *cfg.Block) (d record.Delta, next uint64, ok bool) {
	if b == nil {
		return d, 0, false
	}
	return record.Delta{Counter: -1 - v.frameNumber(frame{q.Number, placement.In(b)}), N: 1}, b.Start + m.Base, true
}

// endsInCall reports whether an address lies in a call with an edge for never
// coming back.
func endsInCall(b *cfg.Block, addr uint64) bool {
	for i := range b.Calls {
		if c := &b.Calls[i]; addr >= c.Insn.Addr && addr < c.Insn.End() && (c.NoReturn || c.Leaves) {
			return true
		}
	}
	return false
}

func (v *Solver) frameNumber(f frame) int32 {
	n, known := v.activeNo[f]
	if !known {
		n = int32(len(v.active))
		v.activeNo[f] = n
		v.active = append(v.active, f)
	}
	return n
}

// ActiveLoops returns what is missing in the induction counters of a thread
// that died in the loops around an instruction: the value of their registers.
func (v *Solver) ActiveLoops(addr uint64, how relocate.How, reg func(x86.Reg) uint64) (d []record.Delta) {
	q, m, addr := v.planAt(addr)
	if q == nil || how == relocate.Left {
		return nil
	}
	g := m.Spec.Program.Graph(q.Func, &v.space)
	b := g.BlockOf(addr)
	if b == nil {
		return nil
	}
	w := m.Spec.Counters(q, g, &v.network)
	for i := range w.Edges {
		if e := &w.Edges[i]; e.Induction != nil && inLoop(w, e, b, how) {
			d = append(d, record.Delta{Counter: e.Counter, N: reg(e.Induction.Reg)})
		}
	}
	return d
}

// inLoop reports whether a thread at an instruction of a block is in the loop of an
// induction counter: it has begun to count, and has not ended.
func inLoop(w *placement.Network, e *placement.Edge, b *cfg.Block, how relocate.How) bool {
	loop := e.Induction.Loop
	i, counted, on := how.On()
	if !on {
		return loop.Has(b)
	}
	is := func(u placement.Update) bool { return u.Counter == e.Counter }
	x := &w.Edges[i]
	out, in := updates(w, x.Way(), true), updates(w, x.Way(), false)
	if k := slices.IndexFunc(out, is); k >= 0 {
		return counted <= k
	}
	if x.Counter >= 0 {
		counted-- // what counts the edge itself stands between them
	}
	if k := slices.IndexFunc(in, is); k >= 0 {
		return counted-len(out) > k
	}
	return loop.Has(b)
}

// updates are what an edge does to the counters of the loops that it leaves, in order, or to
// those of the loops that it enters.
func updates(w *placement.Network, e *cfg.Edge, leaves bool) (list []placement.Update) {
	for _, u := range w.Updates(e) {
		if u.Add == leaves {
			list = append(list, u)
		}
	}
	return list
}
