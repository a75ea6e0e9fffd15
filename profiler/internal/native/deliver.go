package native

import (
	"errors"
	"syscall"

	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// maxSteps is how far a thread may go before it gets a signal. Most need one
// or two steps.
const maxSteps = 64

// deliver lets a thread have a signal. Where it stands in the cache it is put
// at the original address before, for handlers look at it: profilers,
// unwinders, whoever mends a fault. Where that is not possible, the address
// stays the one in the cache; whoever does not look goes on from there as well.
func (r *run) deliver(e tracee.Event) error {
	pc, restarts, err := r.p.Where(e.Tid)
	passes := r.late.Passes(pc - r.in.bias)
	if err != nil || !r.in.holds(pc) && !passes {
		return r.p.Resume(e)
	}
	if r.p.Fault(e) {
		to, ok := uint64(0), false
		if r.p.CanTrap(e.Tid) {
			to, ok = r.late.Faulted(pc - r.in.cache)
		}
		if !ok && !r.p.Caught(e.Sig) { // it ends the program, and nobody comes back
			to, _, ok = r.spec.Origin(r.in.code, pc-r.in.cache)
		}
		if ok {
			err = r.p.MoveFault(e, pc, to+r.in.bias)
		}
	} else if to, ok := r.late.Interrupted(pc-r.in.cache, restarts); ok {
		err = r.p.SetPC(e.Tid, to+r.in.bias)
	} else if !restarts && e.CanWait() && r.p.CanTrap(e.Tid) {
		return alive(r.stepOut(e, pc))
	}
	if alive(err) != nil {
		return err
	}
	return r.p.Resume(e)
}

// stepOut lets a thread go on from the cache at pc to where an original address
// leads back to, then lets it have the signal.
func (r *run) stepOut(e tracee.Event, pc uint64) error {
	h, err := r.p.Hold(e)
	if err != nil {
		return err
	}
	for n := 0; n < maxSteps && (r.in.holds(pc) || r.late.Passes(pc-r.in.bias)); n++ {
		if to, ok := r.late.Interrupted(pc-r.in.cache, false); ok {
			if err := r.p.SetPC(e.Tid, to+r.in.bias); err != nil {
				return err
			}
			break
		}
		to, ok := r.late.Way(pc - r.in.cache)
		if !ok {
			break
		}
		var got tracee.Event
		if to != 0 {
			got, err = r.p.StepTo(e.Tid, r.in.cache+to)
		} else {
			got, err = r.p.Step(e.Tid)
		}
		if err != nil {
			break
		}
		if pc, err = r.p.PC(e.Tid); err != nil || got.Kind != tracee.Trap || to != 0 && pc != r.in.cache+to {
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
