package native

import (
	"errors"
	"syscall"

	"github.com/skewlens/skewlens/internal/garbage"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// handlers are what is done about each kind of stop. Each of them lets the
// thread go on, if it is to.
var handlers = [...]func(*session, tracee.Event) error{
	tracee.NewThread: (*session).newThread,
	tracee.Cloned:    (*session).cloned,
	tracee.NewChild:  (*session).newChild,
	tracee.Trap:      (*session).trap,
	tracee.Signal:    (*session).signal,
	tracee.Exiting:   (*session).exiting,
	tracee.Gone:      (*session).gone,
	tracee.Execed:    (*session).execed,
	tracee.Stopped:   (*session).resume,
	tracee.Other:     (*session).resume,
	tracee.Rang:      (*session).rang,
}

func (s *session) resume(e tracee.Event) error { return s.p.Resume(e) }

// newThread: a thread is before its first instruction. Its creator's stop,
// which says whose it is, may come later.
func (s *session) newThread(e tracee.Event) error {
	if is, err := s.asks(e); is {
		return err
	}
	if s.in.golang != nil {
		gs, err := s.threads.carry(e.Tid, e.Tid)
		if err == nil {
			err = s.p.SetGS(e.Tid, gs)
		}
		if alive(err) != nil {
			return err
		}
		return s.p.Resume(e)
	}
	t := s.threads.byTid[e.Tid]
	if t == nil {
		s.threads.early[e.Tid] = e
		return nil
	}
	if err := s.p.SetGS(e.Tid, s.in.base(t.slot)); alive(err) != nil {
		return err
	}
	if t.area != nil {
		t.area.SetTop(s.p.SP(e.Tid))
	}
	return s.p.Resume(e)
}

// cloned: a thread has made another one.
func (s *session) cloned(e tracee.Event) error {
	parent := s.threads.byTid[e.Tid]
	child, thread, err := s.p.Child(e.Tid)
	if s.in.golang != nil && thread && err == nil {
		// It may be a while until the new one gets a core.
		if _, err := s.threads.carry(child, e.Tid); alive(err) != nil {
			return err
		}
	}
	if parent == nil || err != nil || !thread || s.threads.byTid[child] != nil { // adopted
		return s.p.Resume(e)
	}
	first, ok := s.threads.early[child]
	if !ok {
		if first, err = s.p.First(child); err != nil {
			return err
		}
	}
	delete(s.threads.early, child)
	if first.Kind != tracee.NewThread { // killed before it ran
		s.p.Later(first)
		return s.p.Resume(e)
	}
	s.threads.drain(parent) // the create that made the child comes before its birth
	s.threads.look(parent)
	_, err = s.threads.birth(child, parent)
	if err == nil {
		err = s.newThread(first)
	}
	if alive(err) != nil {
		return err
	}
	return s.p.Resume(e)
}

// newChild: a forked process runs on alone, as if nobody looked.
func (s *session) newChild(e tracee.Event) error {
	s.children++
	if err := s.lineage.sink(s.p, e.Tid); alive(err) != nil {
		return err
	}
	if l := s.in.loader; l != nil {
		l.forget(s.p, e.Tid)
	}
	if w := s.in.mprotect; w != nil {
		w.forget(s.p, e.Tid)
	}
	return s.p.Detach(e.Tid)
}

// exiting: a thread is about to end, with its registers and memory still there.
func (s *session) exiting(e tracee.Event) error {
	t := s.threads.byTid[e.Tid]
	if t == nil || t.dead {
		return s.goExiting(e)
	}
	t.end = rdtsc()
	ran, queued := s.p.Times(t.tid)
	t.cpuNS, s.queuedNS = ran, s.queuedNS+queued
	t.active, t.stood = s.stacks.active(t.tid)
	s.signals.ended(t.tid)
	var err error
	last := s.ending || e.Tid == s.p.Pid || s.p.Threads() == 1
	if !last { // what it has left is in its area: nobody need wait until that is read
		err = s.p.Resume(e)
	}
	s.threads.faults.collect()
	t.end = s.threads.endOf(t)
	s.threads.death(t) // first: who waited for its end may have gone on by now
	s.threads.drainSome()
	if last {
		s.bind()
		err = s.p.Resume(e)
	}
	return err
}

// bind sees through which slots modules call each other, when a thread ends
// that may be the last one.
func (s *session) bind() {
	s.ending = true
	s.solver.Bind(s.p.Word)
	s.in.seeLater(s.p)
}

// gone: a thread has ended.
func (s *session) gone(e tracee.Event) error {
	if t := s.threads.byTid[e.Tid]; t != nil && !t.dead {
		s.threads.drainSome()
		s.threads.faults.collect()
		s.threads.death(t)
	}
	s.ended(e.Tid)
	delete(s.threads.byTid, e.Tid)
	s.threads.drop(e.Tid)
	s.signals.forget(e.Tid)
	if e.Tid == s.p.Pid {
		s.code, s.killed = e.End()
	}
	return s.p.Resume(e)
}

// signal: a thread is about to get one.
func (s *session) signal(e tracee.Event) error {
	s.stopped(e.Tid)
	if is, err := s.asks(e); is {
		return err
	}
	if s.threads.goroutines == nil { // else many come, and who is held gets its own when it goes on
		defer s.threads.cores.loose()()
	}
	s.threads.watchAll() // whoever gets it or dies of it
	return s.signals.deliver(e)
}

// trap: a thread ran into an int3, or stopped at an address. Where that was
// none of ours it is the program's own.
func (s *session) trap(e tracee.Event) error {
	s.stopped(e.Tid)
	if pc, err := s.p.PC(e.Tid); err == nil {
		for _, ours := range []func(*session, tracee.Event, uint64) (bool, error){
			(*session).goStop, (*session).ringFull, (*session).handlerReturns, (*session).handlerWaits, (*session).loaded, (*session).protects, (*session).leaves, (*session).springboard} {
			if is, err := ours(s, e, pc); is {
				return alive(err)
			}
		}
	}
	e.Kind, e.Sig = tracee.Signal, syscall.SIGTRAP
	return s.signals.deliver(e)
}

// ringFull: the recorder has no room for another record of the thread, which goes on
// as soon as those that there are were taken.
func (s *session) ringFull(e tracee.Event, pc uint64) (bool, error) {
	t, m := s.threads.byTid[e.Tid], s.in.cacheOf(pc)
	if gs := s.threads.goroutines; gs != nil {
		gs.births(s.threads)
		if base, err := s.p.GS(e.Tid); err == nil {
			t = gs.byBase[base]
		}
	}
	if t == nil || !(m != nil && m.spec.FullTrap(pc-m.cache) || s.in.waits.stubs.IsFull(pc)) {
		return false, nil
	}
	horizon := s.threads.takeAll()
	t.area.Reset()
	s.threads.tryGates(t)
	err := s.p.Resume(e)
	garbage.Huge() // there will be more
	s.threads.advance(horizon)
	return true, err
}

// handlerReturns: a diverted handler of a signal is left.
func (s *session) handlerReturns(e tracee.Event, pc uint64) (bool, error) {
	return s.signals.returns(e.Tid, pc)
}

// handlerWaits: a thread has left a piece of our code, and gets its signal.
func (s *session) handlerWaits(e tracee.Event, pc uint64) (bool, error) {
	return s.signals.left(e.Tid, pc)
}

// loaded: the dynamic linker has mapped something, or is about to.
func (s *session) loaded(e tracee.Event, pc uint64) (bool, error) {
	l := s.in.loader
	if l == nil || pc-1 != l.brk {
		return false, nil
	}
	var err error
	s.solver.Bind(s.p.Word) // before anything goes
	if l.stable(s.p) {
		err = s.in.opened(s.p, s.solver.Moved)
	}
	if err == nil {
		err = s.p.Return(e.Tid)
	}
	if alive(err) != nil {
		return true, err
	}
	return true, s.p.Resume(e)
}

// springboard: a thread came back to original code at an address that leads
// to its copy by an int3.
func (s *session) springboard(e tracee.Event, pc uint64) (bool, error) {
	m, a := s.in.movedOf(pc - 1)
	if m == nil {
		return false, nil
	}
	to, ok := m.patcher.Trapped(a)
	if !ok {
		return false, nil
	}
	if err := s.p.SetPC(e.Tid, m.cache+to); alive(err) != nil {
		return true, err
	}
	return true, s.p.Resume(e)
}

// alive takes away the error of a thread that was killed meanwhile: its end is
// an event of its own.
func alive(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
