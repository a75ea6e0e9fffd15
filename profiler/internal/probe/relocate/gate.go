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
//	in:  if records are left and the thread is outside: it is inside now; record
//	out: if it is inside: it is outside now; record
//
// A thread that goes round in a region comes in once. Both records have the
// counters that changed, since what is executed between them is waiting.

const (
	redZone  = 128
	gateSize = 192 // bytes of a gate, at most
)

// gates emits the block's counter and then the gates before it: whatever is
// executed from here on is counted behind the record.
func (m *emitter) gates(b *cfg.Block, counter int32) {
	live := b.LiveIn
	m.increment(counter, live)
	hook, ok := m.s.hooks(record.Gate)
	if !ok || m.s.opt.NoCounters {
		return
	}
	for _, enter := range []bool{false, true} { // out of one, then into the next
		for _, r := range m.q.Func.GatesAt(b.Start, enter) {
			if n := m.s.from.Gate + r; n < threadarea.MaxGates {
				m.gate(&m.s.Program.Regions[r], n, enter, live != 0, &b.Insns[0], hook)
			}
		}
	}
}

func (m *emitter) gate(r *cfg.Region, n int32, enter, keepFlags bool, in *x86.Insn, hook record.Hook) {
	left, inside := threadarea.GateOffset(n), threadarea.GateOffset(n)+4
	done := m.Labels(1)
	down := int32(redZone) // how far the stack pointer is below where it was
	test, kind := inside, hook.Leave
	if enter {
		test, kind = left, hook.Arrive
	}
	if keepFlags {
		m.LeaRSP(-redZone)
		m.Pushf()
		down += 8
	}
	slow := m.outOfLine(func() {
		if enter {
			m.gateWord(func() { m.CmpGS32(inside, 0) }, 5)
			m.Jcc(asm.NotEqual, done)
			m.gateWord(func() { m.DecGS32(left) }, 4)
		}
		if !keepFlags {
			m.LeaRSP(-redZone)
		}
		m.Push(x86.R11)
		m.Push(x86.RDI)
		m.Push(x86.RDX)
		down += 3 * 8
		inside1 := uint32(0)
		if enter {
			inside1 = 1
			switch r.Object {
			case cfg.Operand:
				m.Lea(x86.RDI, in, down)
			case cfg.NoObject:
				m.MovImm32(x86.RDI, 0)
			}
		} else {
			m.Lfence() // no time stamp from before the wait was over
		}
		m.MovImm32(x86.RDX, uint32(n))
		if r.Site == 0 && enter {
			m.PushRSP(down) // the return address
		} else {
			m.PushImm32(0)
		}
		m.gateWord(func() { m.MovGS32(inside, inside1) }, 8)
		m.record(kind | threadarea.ScanBit)
		m.LeaRSP(8)
		m.Pop(x86.RDX)
		m.Pop(x86.RDI)
		m.Pop(x86.R11)
		if !keepFlags {
			m.LeaRSP(redZone)
		}
		m.Jmp(done)
	})
	m.gateWord(func() { m.CmpGS32(test, 0) }, 5)
	m.Jcc(asm.NotEqual, slow)
	m.Bind(done)
	if keepFlags {
		m.Popf()
		m.LeaRSP(redZone)
	}
}

// gateWord notes that an instruction names a gate's state, so many bytes before
// its end.
func (m *emitter) gateWord(emit func(), before int) {
	emit()
	m.siteRefs = append(m.siteRefs, siteRef{int32(m.Len() - before), toGate})
}
