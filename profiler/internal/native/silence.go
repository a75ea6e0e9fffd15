package native

import (
	"bytes"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Threads read their own CPU clocks, which is a system call, and a program may forbid
// itself system calls (seccomp), on pain of death. Which it will allow is its own
// affair, so from then on what is recorded bears no CPU clock:
//
//	the C library is as it is known ─▶ the call that forbids asks before (guard.S)
//	else                            ─▶ who may ever forbid any reads none from the start

// silence has nobody read a CPU clock any more, nor ask for anything.
func (ts *threads) silence() {
	ts.silent, ts.births.mute = true, true
	ts.guard(threadarea.Mute)
	for _, t := range ts.byTid {
		if !t.dead {
			t.area.Silence()
		}
	}
}

// mayFilter reports whether the program may forbid itself system calls, and nobody would
// be asked before.
func (in *injection) mayFilter() bool {
	if in.golang != nil {
		return blocking.MayFilterInGo(in.modules[0].im)
	}
	if in.waits.guards {
		return false
	}
	for _, m := range in.modules {
		if blocking.MayFilter(m.im) {
			return true
		}
	}
	return false
}

// ticks reports whether a thread stands in the copy at an instruction of ours that reads
// the time stamp counter: who forbids itself all system calls cannot read that either.
func (in *injection) ticks(p *tracee.Process, m *module, pc uint64) bool {
	is := func(b []byte) bool { return bytes.HasPrefix(b, []byte{0x0f, 0x31}) }
	b := make([]byte, 2)
	return p.Read(b, pc) == nil && is(b) && !is(m.im.Bytes(in.original(pc, true)-m.bias))
}

// tick lets a thread go on behind such an instruction.
func (s *signals) tick(e tracee.Event) error {
	if err := s.p.Ticked(e.Tid, rdtsc()); alive(err) != nil {
		return err
	}
	return s.p.Resume(tracee.Event{Kind: tracee.Other, Tid: e.Tid})
}

// silenced is the warning where clocks were not read.
func (ts *threads) silenced() []profile.Warning {
	if !ts.silent {
		return nil
	}
	return []profile.Warning{{Code: "cpu-clock", Message: "the program forbids itself system calls (seccomp), or may, so CPU clocks were not read from then on: time for which a thread had no core is taken for work"}}
}
