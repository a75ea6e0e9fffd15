package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Gates stand in the middle of code, where nothing may change: neither flags
// nor registers nor what lies below the stack pointer. In line there is only a
// look at whether the gate is still of interest, and whether the thread is
// inside; the rest is out of line:
//
//	in:  if records are left and the thread is outside: it is inside now; record;
//	     the last one has the profiler look whether it wants more
//	out: if it is inside: it is outside now; record
//
// A thread that goes round in a region comes in once. Both records have the
// counters that changed, since what is executed between them is waiting.

const (
	redZone    = 128
	gateSize   = 208 // bytes of a gate, at most
	gateInside = 4   // from its first word to its second

	// BelowGate is how far the stack of a gate's record lies below the program's own.
	BelowGate = redZone + 8 + 3*8
)

// gates emits the gates before a block and its counter between them: who leaves
// a region has yet to come to the block, who enters one has come.
func (m *emitter) gates(b *cfg.Block, counter int32) {
	live := b.LiveIn
	for _, enter := range []bool{false, true} { // out of one, then into the next
		if enter {
			m.unitsAt(b) // a part begins behind the region
			m.increment(counter, live, func() {})
		}
		if m.s.opt.Bare() {
			continue
		}
		for _, r := range m.q.Func.GatesAt(b.Start, enter) {
			region, name := &m.s.Program.Regions[r], record.Gate
			switch {
			case region.Future:
				name = record.Await
			case region.Idle:
				name = record.Idle
			}
			hook, ok := m.s.hooks(name)
			if n := m.s.from.Gate + r; ok && n < threadarea.MaxGates {
				m.gate(gateCode{region, n, enter, live != 0, &b.Insns[0], hook})
			}
		}
	}
}

// gateCode is one gate that is being emitted.
type gateCode struct {
	r     *cfg.Region
	n     int32
	enter bool
	flags bool      // some are live
	in    *x86.Insn // before which it stands
	hook  record.Hook
}

func (m *emitter) gate(g gateCode) {
	test := threadarea.GateOffset(g.n)
	if !g.enter {
		test += gateInside
	}
	done := m.Labels(1)
	slow := m.outOfLine(func() { m.passGate(g, done) })
	m.keepingFlags(g.flags, func() {
		m.CmpGS32(test, 0)
		m.names(toGate, 5)
		m.Jcc(asm.NotEqual, slow)
		m.Bind(done)
	})
}

// passGate records, and goes on.
func (m *emitter) passGate(g gateCode, done asm.Label) {
	left := threadarea.GateOffset(g.n)
	down := int32(redZone + 8) // how far the stack pointer is below where it was
	if g.enter {
		m.CmpGS32(left+gateInside, 0)
		m.names(toGate, 5)
		m.Jcc(asm.NotEqual, done)
		m.DecGS32(left)
		m.names(toGate, 4)
		more := m.Labels(1)
		m.Jcc(asm.NotEqual, more)
		m.MovGS32(threadarea.OffLimit, 0)
		m.Bind(more)
	}
	if !g.flags {
		m.LeaRSP(-redZone - 8)
	}
	saved := []x86.Reg{x86.R11, x86.RDI, x86.RDX}
	for _, r := range saved {
		m.Push(r)
		down += 8
	}
	kind, inside := g.hook.Leave, uint32(0)
	switch {
	case !g.enter:
		m.Lfence() // no time stamp from before the wait was over
	case g.r.Object == cfg.Operand:
		m.Lea(x86.RDI, g.in, down)
	case g.r.Object == cfg.NoObject:
		m.MovImm32(x86.RDI, 0)
	}
	m.MovImm32(x86.RDX, uint32(g.n))
	if g.enter && g.r.Site == 0 {
		m.PushRSP(down) // the return address
	} else {
		m.PushImm32(0)
	}
	if g.enter {
		kind, inside = g.hook.Arrive, 1
		if g.hook.Chain {
			kind |= threadarea.ChainBit
			if cfg.OfRust(g.r.Func.Name) {
				kind |= threadarea.DeepBit // futures lie on the stack, which are large
			}
		}
	}
	m.MovGS32(left+gateInside, inside)
	m.names(toGate, 8)
	m.record(kind | threadarea.ScanBit)
	m.LeaRSP(8)
	for i := len(saved) - 1; i >= 0; i-- {
		m.Pop(saved[i])
	}
	if !g.flags {
		m.LeaRSP(redZone + 8)
	}
	m.Jmp(done)
}
