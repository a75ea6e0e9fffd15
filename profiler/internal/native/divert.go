package native

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/probe/livepatch"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// diverted is a thread in the handler of a fault that must not return to the
// address that it sees: a springboard stands there and counts who arrives, which
// the thread has done already.
type diverted struct {
	frame tracee.Frame
	m     *module
	fault livepatch.Fault
}

// divert lets a thread have the signal of a fault, to be stopped again when the
// handler returns.
func (r *run) divert(e tracee.Event, m *module, f livepatch.Fault) error {
	frame, ok, err := r.p.Enter(e)
	if err != nil || !ok {
		return err
	}
	list := slices.DeleteFunc(r.diverted[e.Tid], func(d diverted) bool { return !d.frame.Outlives(frame) }) // left by longjmp
	r.diverted[e.Tid] = append(list, diverted{frame, m, f})
	return r.await(e.Tid)
}

// await lets a thread go on until the innermost of its diverted handlers returns.
func (r *run) await(tid int) error {
	at := uint64(0)
	if list := r.diverted[tid]; len(list) > 0 {
		at = list[len(list)-1].frame.Return
	}
	if err := r.p.BreakAt(tid, at); err != nil {
		return err
	}
	return r.p.Resume(tracee.Event{Kind: tracee.Other, Tid: tid})
}

// returns handles a stop where a diverted handler returns, and reports false
// for any other. Other handlers return by the same code.
func (r *run) returns(tid int, pc uint64) (bool, error) {
	list := r.diverted[tid]
	if len(list) == 0 || pc != list[len(list)-1].frame.Return {
		return false, nil
	}
	for i, d := range list {
		is, err := r.p.Returns(tid, d.frame)
		if err != nil {
			return true, err
		}
		if !is {
			continue
		}
		r.diverted[tid] = list[:i]
		to, err := r.p.Word(d.frame.PC())
		if err != nil {
			return true, err
		}
		f := d.fault
		switch to - d.m.bias {
		case f.Addr:
			err = r.p.WriteWord(d.m.cache+f.At, d.frame.PC())
		case f.Next:
			err = r.p.WriteWord(d.m.cache+f.Behind, d.frame.PC())
		}
		if err != nil {
			return true, err
		}
		break
	}
	return true, r.await(tid)
}
