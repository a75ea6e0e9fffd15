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
func (s *signals) divert(e tracee.Event, m *module, f livepatch.Fault) error {
	frame, ok, err := s.p.Enter(e)
	if err != nil || !ok {
		return err
	}
	list := slices.DeleteFunc(s.diverted[e.Tid], func(d diverted) bool { return !d.frame.Outlives(frame) }) // left by longjmp
	s.diverted[e.Tid] = append(list, diverted{frame, m, f})
	return s.await(e.Tid)
}

// await lets a thread go on until the innermost of its diverted handlers returns.
func (s *signals) await(tid int) error {
	at := uint64(0)
	if list := s.diverted[tid]; len(list) > 0 {
		at = list[len(list)-1].frame.Return
	}
	if err := s.p.BreakAt(tid, at); err != nil {
		return err
	}
	return s.p.Resume(tracee.Event{Kind: tracee.Other, Tid: tid})
}

// returns handles a stop where a diverted handler returns, and reports false
// for any other. Other handlers return by the same code.
func (s *signals) returns(tid int, pc uint64) (bool, error) {
	list := s.diverted[tid]
	if len(list) == 0 || pc != list[len(list)-1].frame.Return {
		return false, nil
	}
	for i, d := range list {
		is, err := s.p.Returns(tid, d.frame)
		if err != nil {
			return true, err
		}
		if !is {
			continue
		}
		s.diverted[tid] = list[:i]
		to, err := s.p.Word(d.frame.PC())
		if err != nil {
			return true, err
		}
		f := d.fault
		switch to - d.m.bias {
		case f.Addr:
			err = s.p.WriteWord(d.m.cache+f.At, d.frame.PC())
		case f.Next:
			err = s.p.WriteWord(d.m.cache+f.Behind, d.frame.PC())
		}
		if err != nil {
			return true, err
		}
		break
	}
	return true, s.await(tid)
}
