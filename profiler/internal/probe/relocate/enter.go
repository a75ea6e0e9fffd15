package relocate

import (
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Of the functions of a process most never run. The recorder looks at the
// counters of those only that were entered: each looks, where it is entered,
// whether this thread has said so before.

const enterSize = 64 // bytes of that, at most

// smallProgram is how many instructions a program has whose counters can all be
// looked at, some ten thousand in a few microseconds: that is less than what
// every call would pay.
const smallProgram = 200_000

// allLive reports whether all counters are looked at: of a program that is not
// large. Libraries may be many.
func (s *Spec) allLive() bool {
	return s.from == Numbers{} && s.insns < smallProgram && !s.inGo() // where there may be many goroutines
}

// enter emits it, where some flags are live.
func (m *emitter) enter(live x86.Flags) {
	if m.s.opt.NoCounters || m.s.allLive() {
		return
	}
	done := m.Labels(1)
	first := m.outOfLine(func() {
		m.LeaRSP(-redZone)
		m.PushImm32(m.q.Number)
		m.CallTo(m.cache + threadarea.EnterEntry)
		m.LeaRSP(redZone)
		m.Jmp(done)
	})
	m.keepingFlags(live != 0, func() {
		m.CmpGS8(uint32(m.q.Number), 0)
		m.names(toEntered, 5)
		m.Jcc(asm.NotEqual^1, first)
		m.Bind(done)
	})
}

// entersCopy reports whether control comes into the copy at places only that
// say so: what begins in code that stays in place comes in behind them. In Go who
// comes to a pad has entered the function before.
func (q *Plan) entersCopy(g *cfg.Graph) bool {
	want, inGo := 1, q.Func.Go
	for _, b := range g.Blocks {
		if b.Pad && !inGo {
			want++
		}
	}
	for _, list := range [][]arrival{q.springboards, q.shorts} {
		for _, a := range list {
			if a.to.kind == atEntry || a.to.kind == atPad && !inGo {
				want--
			}
		}
	}
	return want == 0
}

// Functions are the counters of the functions that move.
func (s *Spec) Functions() (list []threadarea.Function) {
	for _, q := range s.plans {
		list = append(list, threadarea.Function{Chords: q.After, Sites: q.Site + q.sites, Always: q.Always})
	}
	return list
}
