package native

import (
	"errors"
	"syscall"

	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// How far a thread may go before it gets a signal: most need one or two steps,
// and every block has an address that can be made to lead back by an int3. That
// costs a stop when the handler returns, so jumps are tried first.
const (
	maxSteps = 4096
	fewSteps = 32
)

// deliver lets a thread have a signal. Where it stands in the cache it is put
// at the original address before, for handlers look at it: profilers,
// unwinders, whoever mends a fault. Where that is not possible, the address
// stays the one in the cache; whoever does not look goes on from there as well.
func (r *run) deliver(e tracee.Event) error {
	pc, restarts, err := r.p.Where(e.Tid)
	m := r.in.cacheOf(pc)
	if m == nil {
		m = r.in.passes(pc)
	}
	if err != nil || m == nil {
		return r.p.Resume(e)
	}
	if r.p.Fault(e) {
		if !r.p.Caught(e.Sig) { // it ends the program, and nobody comes back
			err = r.p.MoveFault(e, pc, r.original(pc, true))
		} else if r.p.CanTrap(e.Tid) {
			if f, ok := m.late.Faulted(pc - m.cache); ok {
				err = r.p.MoveFault(e, pc, f.Addr+m.bias)
				if err == nil && !f.Redirected {
					return alive(r.divert(e, m, f))
				}
			}
		}
	} else if to, ok := m.late.Interrupted(pc-m.cache, restarts, false); ok {
		err = r.p.SetPC(e.Tid, to+m.bias)
	} else if !restarts && e.CanWait() && r.p.CanTrap(e.Tid) {
		return alive(r.stepOut(e, m, pc))
	}
	if alive(err) != nil {
		return err
	}
	return r.p.Resume(e)
}

// stepOut lets a thread go on from the cache at pc to where an original address
// leads back to, then lets it have the signal.
func (r *run) stepOut(e tracee.Event, m *module, pc uint64) error {
	h, err := r.p.Hold(e)
	if err != nil {
		return err
	}
	for n := 0; n < maxSteps && (m.holds(pc) || r.in.passes(pc) == m); n++ {
		if to, ok := m.late.Interrupted(pc-m.cache, false, n > fewSteps); ok {
			if err := r.p.SetPC(e.Tid, to+m.bias); err != nil {
				return err
			}
			break
		}
		to, ok := m.late.Advance(pc - m.cache)
		if !ok {
			break
		}
		var got tracee.Event
		if to != 0 {
			got, err = r.p.StepTo(e.Tid, m.cache+to)
		} else {
			got, err = r.p.Step(e.Tid)
		}
		if err != nil {
			break
		}
		if pc, err = r.p.PC(e.Tid); err != nil || got.Kind != tracee.Trap || to != 0 && pc != m.cache+to {
			return r.p.PutBack(h, got)
		}
	}
	return r.p.Release(h)
}

// alive takes away the error of a thread that was killed meanwhile: its end is
// an event of its own.
func alive(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
