package native

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/probe/livepatch"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// diverted is a thread in the handler of a fault that must not return to the
// address that it sees: a springboard stands there and counts who arrives, which
// the thread has done already. Or it is in one that may never return.
type diverted struct {
	frame tracee.Frame
	m     *module // nil: it may return to what it sees
	fault livepatch.Fault
	stack []uint64 // places in moved code, of the profile, that are left for good if the handler does not return
}

// divert lets a thread have the signal of a fault, to be stopped again when the
// handler returns.
func (s *signals) divert(e tracee.Event, m *module, f livepatch.Fault) error {
	var stack []uint64
	if s.in.leaps() {
		stack = s.stacks.places(e.Tid)
	}
	frame, ok, err := s.p.Enter(e)
	if err != nil || !ok {
		s.abandon(stack)
		return err
	}
	list := slices.DeleteFunc(s.diverted[e.Tid], func(d diverted) bool {
		gone := !d.frame.Outlives(frame)
		if gone {
			s.abandon(d.stack)
		}
		return gone
	})
	s.diverted[e.Tid] = append(list, diverted{frame, m, f, stack})
	return s.await(e.Tid)
}

// abandon is told of frames that were left in a way that no counter saw: by
// siglongjmp from a signal's handler, or because it put the thread somewhere
// else. How often anything in these functions ran is not known.
func (s *signals) abandon(stack []uint64) {
	for _, a := range stack {
		s.stacks.solver.Forget(a)
	}
}

// ended is told of a thread that is about to end, in a handler or not.
func (s *signals) ended(tid int) {
	sp := s.p.SP(tid)
	for _, d := range s.diverted[tid] {
		if !d.frame.Holds(s.p, sp) {
			s.abandon(d.stack)
		}
	}
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
		for _, x := range list[i+1:] {
			s.abandon(x.stack)
		}
		s.diverted[tid] = list[:i]
		if d.m == nil {
			break
		}
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
		default:
			s.abandon(d.stack)
		}
		if err != nil {
			return true, err
		}
		break
	}
	return true, s.await(tid)
}
