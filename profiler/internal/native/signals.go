package native

import (
	"time"

	"github.com/skewlens/skewlens/profiler/internal/probe/livepatch"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// How far a thread may go before it gets a signal: most need one or two steps,
// and every block has an address that can be made to lead back by an int3. That
// costs a stop when the handler returns, so jumps are tried first.
const (
	maxSteps = 4096
	fewSteps = 32
)

// watchable is how many signals' handlers are seen to return in a second, where
// they may not, and how long that may take. Each takes two stops more, and a
// walk up the stack: where handlers interrupt each other the next signal comes
// before that is done, and a program whose handler stops its timer never would.
const (
	watchable    = 500
	watchableFor = time.Second / 4
)

// signals delivers the program's signals, so that handlers see what they would
// see if nothing had been moved.
type signals struct {
	p          *tracee.Process
	in         *injection
	stacks     *stacks
	diverted   map[int][]diverted // by thread; the innermost handler last
	leaving    map[int]*leaving   // by thread
	goroutines *goroutines        // nil: the program is not in Go
	cores      *cores
	cut        int // waits that a signal came to, which are not known

	since     time.Time     // from when on
	watched   int           // so many signals' handlers were to be seen to return,
	spent     time.Duration // for which this was spent
	unwatched int           // handlers of which that was not seen
}

// leaving is a thread that gets its signal when it has left a piece of our code.
// Nobody waits for that: it may itself wait for a thread that is stopped, for a
// lock of the simulated caches.
type leaving struct {
	h  *tracee.Held
	e  tracee.Event
	m  *module
	at uint64 // where it leaves
}

// leaps reports whether a handler may leave what it has interrupted for good:
// by a jump, or by an exception.
func (in *injection) leaps() bool {
	if in.golang != nil {
		return false // the runtime's only, that come back or panic
	}
	if in.leaping == nil {
		prog := in.modules[0].spec.Program
		leap := prog.Leaps() || prog.Traces()
		in.leaping = &leap // to be asked at each signal
	}
	return *in.leaping
}

// forget is told of a thread that has ended.
func (s *signals) forget(tid int) {
	delete(s.diverted, tid)
	delete(s.leaving, tid)
}

// deliver lets a thread have a signal. Where it stands in the cache it is put
// at the original address before, for handlers look at it: profilers,
// unwinders, whoever repairs a fault. Where that is not possible, the address
// stays the one in the cache; whoever does not look goes on from there as well.
func (s *signals) deliver(e tracee.Event) error {
	if l := s.leaving[e.Tid]; l != nil { // its own fault, there
		delete(s.leaving, e.Tid)
		if err := s.p.Arrived(e.Tid); alive(err) != nil {
			return err
		}
		return alive(s.p.PutBack(l.h, e))
	}
	pc, restarts, err := s.p.Where(e.Tid)
	if err == nil && s.in.waits.stubs.Holds(pc) {
		return s.inStub(e, pc)
	}
	if at, ok := s.in.mprotect.begins(pc); ok && err == nil {
		err = s.p.SetPC(e.Tid, at)
		if alive(err) != nil {
			return err
		}
		return s.hand(e)
	}
	m := s.in.cacheOf(pc)
	if m == nil {
		m = s.in.passes(pc)
	}
	if err != nil || m == nil {
		return s.hand(e)
	}
	if s.p.Fault(e) {
		if s.in.ticks(s.p, m, pc) {
			return s.tick(e)
		}
		return s.fault(e, m, pc)
	}
	if to, ok := m.patcher.Interrupted(pc-m.cache, restarts, false); ok {
		err = s.p.SetPC(e.Tid, to+m.bias)
		if alive(err) != nil {
			return err
		}
		return s.hand(e)
	} else if (!restarts || m.patcher.Waits(pc-m.cache)) && e.CanWait() && s.p.CanTrap(e.Tid) {
		return alive(s.stepOut(e, m, pc))
	}
	return s.p.Resume(e)
}

// hand lets a thread have a signal, and sees whether its handler comes back,
// where it might not: not of those of fast timers, which would take all of the
// time.
func (s *signals) hand(e tracee.Event) error {
	s.pend(e)
	if !s.in.leaps() || !s.p.Caught(e.Sig) || !s.p.CanTrap(e.Tid) || !s.p.Fault(e) && !s.room() {
		return s.p.Resume(e)
	}
	begin := time.Now()
	err := s.divert(e, nil, livepatch.Fault{})
	s.spent += time.Since(begin)
	return alive(err)
}

// room reports whether another signal from outside can be watched in this second.
func (s *signals) room() bool {
	if now := time.Now(); now.Sub(s.since) > time.Second {
		s.since, s.watched, s.spent = now, 0, 0
	}
	if s.watched++; s.watched > watchable || s.spent > watchableFor {
		s.unwatched++
		return false
	}
	return true
}

// fault delivers a signal that the thread's own instruction raised.
func (s *signals) fault(e tracee.Event, m *module, pc uint64) error {
	var err error
	if !s.p.Caught(e.Sig) { // it ends the program, and nobody comes back
		err = s.p.MoveFault(e, pc, s.in.original(pc, true))
	} else if s.p.CanTrap(e.Tid) {
		s.goFault(e, m, pc)
		if f, ok := m.patcher.Faulted(pc - m.cache); ok {
			err = s.p.MoveFault(e, pc, f.Addr+m.bias)
			if err == nil && (!f.Redirected || s.in.leaps()) {
				return alive(s.divert(e, m, f))
			}
		}
	} else if s.in.leaps() { // it may not be stopped when it returns
		s.abandon(s.stacks.places(e.Tid))
	}
	if alive(err) != nil {
		return err
	}
	return s.p.Resume(e)
}

// stepOut lets a thread go on from the cache at pc to where an original address
// leads back to, then lets it have the signal.
func (s *signals) stepOut(e tracee.Event, m *module, pc uint64) error {
	h, err := s.p.Hold(e)
	if err != nil {
		return err
	}
	return s.goOn(h, e, m, pc)
}

// left handles a stop where a thread leaves a piece of our code, and reports false
// for any other.
func (s *signals) left(tid int, pc uint64) (bool, error) {
	l := s.leaving[tid]
	if l == nil || pc != l.at {
		return false, nil
	}
	delete(s.leaving, tid)
	if err := s.p.Arrived(tid); err != nil {
		return true, err
	}
	return true, s.goOn(l.h, l.e, l.m, pc)
}

// goOn is the rest of stepOut, for a signal that is held.
func (s *signals) goOn(h *tracee.Held, e tracee.Event, m *module, pc uint64) error {
	for n := 0; n < maxSteps && (m.holds(pc) || s.in.passes(pc) == m); n++ {
		if to, ok := m.patcher.Interrupted(pc-m.cache, false, n > fewSteps); ok {
			if err := s.p.SetPC(e.Tid, to+m.bias); err != nil {
				return err
			}
			break
		}
		to, ok := m.patcher.Advance(pc - m.cache)
		if !ok {
			break
		}
		if to != 0 {
			if err := s.p.GoTo(e.Tid, m.cache+to); err != nil {
				break
			}
			s.leaving[e.Tid] = &leaving{h, e, m, m.cache + to}
			return nil
		}
		got, err := s.p.Step(e.Tid)
		if err != nil {
			break
		}
		if pc, err = s.p.PC(e.Tid); err != nil || got.Kind != tracee.Trap {
			return s.p.PutBack(h, got)
		}
	}
	return s.ready(h, e)
}

// ready lets a thread have the signal that was held.
func (s *signals) ready(h *tracee.Held, e tracee.Event) error {
	if err := s.p.Ready(h); err != nil {
		return err
	}
	return s.hand(e)
}
