package native

import (
	"runtime"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Threads that were left alone (births.go) are traced from some moment on:
// those that live on, each soon; all, before anything happens that the profiler
// must see. To trace a thread does not stop it.

// age traces those that were known when it was called last.
func (ts *threads) age() {
	b := &ts.births
	ts.census(false)
	for t := range b.elders {
		ts.watch(t)
	}
	clear(b.elders)
	for _, t := range b.pool {
		if _, ok := b.place[t]; !ok {
			b.elders[t] = true
		}
	}
}

// rang: some time has passed.
func (s *session) rang(tracee.Event) error {
	if s.threads.births.on {
		s.threads.age()
	}
	return nil
}

// watch traces a thread that was left alone.
func (ts *threads) watch(t *thread) {
	if t.alone && !t.dead && ts.p.Watch(t.tid) == nil {
		ts.watched(t)
	}
}

// watched is told that a thread is traced from now on.
func (ts *threads) watched(t *thread) {
	b := &ts.births
	t.alone = false
	t.area.SetGuard(b.guard())
	b.pool = slices.DeleteFunc(b.pool, func(x *thread) bool { return x == t })
	delete(b.elders, t)
}

// watchAll traces all threads, and leaves none alone from now on.
func (ts *threads) watchAll() {
	b := &ts.births
	if !b.on {
		return
	}
	b.on, b.over = false, true
	ts.p.NoAlarm()
	for t, at := range b.place {
		if ts.in.common.Withdraw(at) {
			delete(b.place, t)
			b.pool = slices.DeleteFunc(b.pool, func(x *thread) bool { return x == t })
			delete(b.bySelf, t.self)
			if ts.in.wipe(t.slot, t.mem, t.area) == nil {
				ts.slots.give(t.slot)
			}
		}
	}
	const patience = 10000 // who creates one may be stopped, or have no core
	for range patience {
		if !ts.watchTasks() && ts.census(true) {
			break
		}
		runtime.Gosched()
	}
	ts.guard(b.guard())
}

// guard tells all threads what they have to do before guarded calls.
func (ts *threads) guard(v uint64) {
	for _, t := range ts.byTid {
		if !t.dead {
			t.area.SetGuard(v)
		}
	}
}

// watchTasks traces who is there; it reports whether somebody was not traced.
func (ts *threads) watchTasks() (some bool) {
	ts.census(true)
	tids, err := ts.p.Tasks()
	if err != nil {
		return false
	}
	for _, tid := range tids {
		if ts.p.Traced(tid) || ts.p.Watch(tid) != nil {
			continue
		}
		some = true
		if t := ts.byTid[tid]; t != nil {
			ts.watched(t)
		}
	}
	return some
}

// asks: a thread stops to ask for something, for itself if nobody has traced it
// until now.
func (s *session) asks(e tracee.Event) (bool, error) {
	if !e.ByStop() {
		return false, nil
	}
	if pc, err := s.p.PC(e.Tid); err != nil || !s.in.waits.stubs.Asks(pc) {
		return false, nil
	}
	ts := s.threads
	ts.census(true)
	t := ts.byTid[e.Tid]
	if t == nil || t.area == nil || t.area.Asked() == 0 {
		return false, nil
	}
	asked := t.area.Asked()
	if t.alone {
		if err := s.p.Adopt(e.Tid); err != nil {
			return true, alive(err)
		}
		ts.watched(t)
	}
	if asked >= askedForAll {
		ts.watchAll()
	}
	switch asked {
	case askedForFilter:
		ts.silence()
	case askedForExec:
		x := leaver{who: t}
		x.frames, x.stood = s.stacks.active(t.tid)
		s.lineage.giveWay(t.tid, x)
	}
	t.area.Answer()
	tracee.Wake(t.area.AskedAt())
	if e.Kind == tracee.NewThread {
		return true, nil // it goes on already
	}
	return true, s.p.Resume(tracee.Event{Kind: tracee.Other, Tid: e.Tid})
}

// What a thread asks for; guard.S has the same.
const (
	askedForAll    = 2 // all are to be traced
	askedForFilter = 3 // and nobody makes system calls of ours any more
	askedForExec   = 4 // all, and nobody comes back if it goes well
)

// vanish is the end of a thread that was killed while nobody traced it.
func (ts *threads) vanish(t *thread) {
	t.dead, t.end = true, rdtsc()
	ts.drain(t)
	ts.tracker.Died(t.id, t.end, 0, nil, 0)
	ts.births.vanished++
	tracee.Unmap(t.mem)
	t.area, t.mem = nil, nil
}

// close ends the pool, when the program has ended, or is another one.
func (ts *threads) close() {
	b := &ts.births
	for t := range b.place {
		tracee.Unmap(t.mem)
	}
	b.on, b.over, b.pool = false, true, nil
	clear(b.place)
	clear(b.elders)
	ts.p.NoAlarm()
}
