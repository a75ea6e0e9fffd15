package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Unit is a loop that may deal work out, in units: its rounds. Threads record
// that they begin one, and that they leave the loop, with the counters that
// changed. Where rounds are short, some are left out between two.
type Unit struct {
	Func  *cfg.Func
	Head  uint64 // the loop's first instruction
	Index bool   // what it counts by is known: it is in the records
}

// Units are a program's, by number from that of the module on. They are known once
// the copy was written.
func (s *Spec) Units() []Unit { return s.units }

// MaxUnits is how many loops of a process are watched.
const MaxUnits = 8192

// unitOf is a loop of the function that is being emitted.
type unitOf struct {
	loop  *cfg.Loop
	n     int32
	index *x86.Insn // that counts the rounds; nil: not known
	hook  record.Hook
}

// openUnits numbers the function's loops that may deal work out: those that do
// more than run through data, but for those that wait.
func (m *emitter) openUnits() {
	m.units = m.units[:0]
	hook, ok := m.s.hooks(record.Unit)
	if !m.s.opt.Units || !ok || m.s.opt.NoCounters {
		return
	}
	again := m.q.unit >= 0 // it was emitted before
	if !again {
		m.q.unit = m.s.next.Unit
	}
	n := m.q.unit
	for _, l := range m.g.Loops {
		if !Deals(l) || n >= MaxUnits {
			continue
		}
		u := unitOf{loop: l, n: n, index: placement.Index(m.g, l), hook: hook}
		m.units = append(m.units, u)
		n++
		if !again {
			m.s.units = append(m.s.units, Unit{m.q.Func, l.Head.Start, u.index != nil})
		}
	}
	m.s.next.Unit = max(m.s.next.Unit, n)
}

// Deals reports whether the rounds of a loop may be units of work: it holds
// others, or calls, and nobody waits in it.
func Deals(l *cfg.Loop) bool {
	calls := false
	for _, b := range l.Blocks {
		if b.Spin {
			return false
		}
		calls = calls || len(b.Calls) > 0
	}
	return !l.Head.Pad && (calls || !l.Inner)
}

// unitsAt emits, where a block begins, that the thread leaves loops there, and
// that it begins a round of one.
func (m *emitter) unitsAt(b *cfg.Block) {
	for i := len(m.units) - 1; i >= 0; i-- { // from the inside outwards
		if u := &m.units[i]; !u.loop.Has(b) && comesFrom(b, u.loop) {
			m.leaveUnit(u, b)
		}
	}
	for i := range m.units {
		if u := &m.units[i]; u.loop.Head == b {
			m.passUnit(u, b)
		}
	}
}

func comesFrom(b *cfg.Block, l *cfg.Loop) bool {
	for _, e := range b.Pred {
		if e.From != nil && l.Has(e.From) {
			return true
		}
	}
	return false
}

// passUnit: the thread is at the loop's head. The passes that are left out are
// counted down.
func (m *emitter) passUnit(u *unitOf, b *cfg.Block) {
	passes, inside, skip := threadarea.UnitOffset(u.n)
	flags := b.LiveIn != 0
	done := m.Labels(1)
	slow := m.outOfLine(func() {
		m.tellUnit(u, flags, done, u.hook.Arrive, func(down int32) {
			m.loadIndex(u.index, down)
			m.PushGS(skip)
			m.names(toUnit, 4)
			m.LoadGS32(x86.RDX, skip)
			m.names(toUnit, 4)
			m.StoreGS32(passes, x86.RDX)
			m.names(toUnit, 4)
			m.MovGS32(inside, 1)
			m.names(toUnit, 8)
		})
	})
	m.keepingFlags(flags, func() {
		m.DecGS32(passes)
		m.names(toUnit, 4)
		m.Jcc(asm.Negative, slow)
		m.Bind(done)
	})
}

// leaveUnit: the thread may come from a loop. If it has said that it is in it, it
// says that it has left, and how many passes are still to be left out.
func (m *emitter) leaveUnit(u *unitOf, b *cfg.Block) {
	passes, inside, _ := threadarea.UnitOffset(u.n)
	flags := b.LiveIn != 0
	done := m.Labels(1)
	slow := m.outOfLine(func() {
		m.tellUnit(u, flags, done, u.hook.Leave, func(int32) {
			m.MovImm32(x86.RDI, 0)
			m.PushGS(passes)
			m.names(toUnit, 4)
			m.MovGS32(inside, 0)
			m.names(toUnit, 8)
		})
	})
	m.keepingFlags(flags, func() {
		m.CmpGS32(inside, 0)
		m.names(toUnit, 5)
		m.Jcc(asm.NotEqual, slow)
		m.Bind(done)
	})
}

// tellUnit records, and goes on. What is told leaves one word on the stack, and
// may change rdi and rdx.
func (m *emitter) tellUnit(u *unitOf, flags bool, done asm.Label, kind uint32, tell func(down int32)) {
	down := int32(redZone + 8)
	if !flags {
		m.LeaRSP(-redZone - 8)
	}
	saved := []x86.Reg{x86.R11, x86.RDI, x86.RDX}
	for _, r := range saved {
		m.Push(r)
		down += 8
	}
	tell(down)
	m.MovImm32(x86.RDX, uint32(u.n))
	m.record(kind | threadarea.ScanBit)
	m.LeaRSP(8)
	for i := len(saved) - 1; i >= 0; i-- {
		m.Pop(saved[i])
	}
	if !flags {
		m.LeaRSP(redZone + 8)
	}
	m.Jmp(done)
}

// loadIndex loads rdi with what a loop counts by, as far as that is known.
func (m *emitter) loadIndex(in *x86.Insn, down int32) {
	switch {
	case in == nil:
		m.MovImm32(x86.RDI, 0)
	case placement.Sums(in):
		m.Lea(x86.RDI, in, down)
	case in.HasMem && in.Opcode != 0x8d && in.Opcode != 0x03:
		m.Lea(x86.RDI, in, down)
		m.Load(x86.RDI, x86.RDI, in.Rex&8 != 0)
	default:
		m.Mov(x86.RDI, placement.Counts(in), in.Rex&8 != 0)
	}
}
