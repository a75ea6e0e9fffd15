package native

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// A thread that is traced stops three times in its life, even if it lives for
// microseconds. So programs that have created and joined many get a pool of
// areas, from which new threads take their own: nobody traces these, and the
// profiler finds out about them when the pool is empty, or whenever it looks.
//
//	many deaths ─▶ open: areas into the pool ─▶ threads are born and die, nobody stops
//	                 ▲                              │
//	                 └── pool empty: a birth that is traced, as ever; or some time has
//	                        passed ─▶ census: who was born, who has died; who is alive
//	                        since the last one is traced from now on
//
// Nothing may happen to a thread that nobody traces that the profiler must see.
// So there are none where signals have handlers, where something waits at an
// int3, or where system calls are made that guard.S (package blocking) does not
// see: those that fork, exec, end the process or install a handler ask before,
// and then all threads are traced again, for good.

const (
	manyDeaths = 256                    // threads have ended before others are left alone,
	aloneFor   = 100 * time.Millisecond // for about so long
)

// births are those of threads that nobody traces.
type births struct {
	on, over bool
	mute     bool // the program may forbid itself what it would ask by
	deaths   int
	futures  bool             // some thread has waited for one: its creations are looked at
	pool     []*thread        // that have areas from the pool, or will
	place    map[*thread]int  // in the pool, of those that are not known yet
	elders   map[*thread]bool // that were known when the pool was filled last
	bySelf   map[uint64]*thread
	selves   uint64
	buried   []uint64 // whose children may not be known yet
	vanished int
}

// introduce gives a thread that has an area the number by which it is known as
// a creator.
func (b *births) introduce(t *thread, in *injection) {
	if b.bySelf == nil {
		b.bySelf, b.place, b.elders = map[uint64]*thread{}, map[*thread]int{}, map[*thread]bool{}
	}
	b.selves++
	t.self = b.selves
	b.bySelf[t.self] = t
	if !in.waits.guards {
		return
	}
	t.area.Introduce(t.self, in.waits.stubs.Ask())
	t.area.SetGuard(b.guard())
}

// guard is what a thread has to do that is traced.
func (b *births) guard() uint64 {
	switch {
	case b.mute:
		return threadarea.Mute
	case b.on:
		return threadarea.Guarded
	}
	return threadarea.Traced
}

// bury is told of a death.
func (b *births) bury(t *thread) {
	b.deaths++
	delete(b.elders, t)
	if b.on {
		b.buried = append(b.buried, t.self)
	} else {
		delete(b.bySelf, t.self)
	}
}

// open fills the pool, if there may be one. by is stopped before its first instruction.
func (ts *threads) open(by int) {
	b := &ts.births
	if b.on && b.futures {
		ts.watchAll()
	}
	if !b.on {
		if b.over || b.deaths < manyDeaths {
			return
		}
		if ts.tracker.Apart() || !ts.mayOpen() || !ts.p.Alarm(aloneFor/2) {
			b.over = true
			return
		}
		b.on = true
		ts.guard(threadarea.Guarded)
	}
	ts.age()
	var free [threadarea.PoolSize]bool
	for i := range free {
		free[i] = true
	}
	for _, at := range b.place {
		free[at] = false
	}
	for at := range free {
		if free[at] && ts.offer(at, by) != nil {
			break // no room for more than are needed
		}
	}
}

// offer puts an area into the pool.
func (ts *threads) offer(at, by int) error {
	t := &thread{living: ts.living()}
	t.alone = true
	if err := ts.settle(t, by); err != nil {
		return err
	}
	t.area.SetGuard(threadarea.Alone)
	ts.births.pool = append(ts.births.pool, t)
	ts.births.place[t] = at
	ts.in.common.Offer(at, t.area)
	return nil
}

// mayOpen reports whether threads can be left alone.
func (ts *threads) mayOpen() bool {
	in := ts.in
	if ts.cores != nil || ts.hardware != nil || in.simulation != nil || !in.waits.guards || in.loader != nil || in.mprotect != nil || len(in.early.pcs) > 0 || ts.births.futures ||
		ts.p.Handles() || ts.p.Filtered() {
		return false
	}
	for _, m := range in.modules {
		if !blocking.Unguarded(m.im) {
			return false
		}
	}
	for _, l := range in.waits.libraries {
		if !ofTheSystem(l.path) && !l.unguarded {
			return false
		}
	}
	return true
}

// census finds who was born and who has died that nobody traces. Threads are
// numbered in the order in which they were created, so who was created after one
// that does not run yet, or while the pool is looked at, is left for the next
// census, unless all are wanted now. certain is false where somebody is left, or
// just being born.
func (ts *threads) census(all bool) (certain bool) {
	if ts.goroutines != nil {
		certain = ts.goroutines.births(ts)
		ts.goroutines.deaths(ts)
		return certain
	}
	b := &ts.births
	if len(b.pool) == 0 {
		return true
	}
	known := b.buried
	b.buried = nil
	var ended []*thread
	for _, t := range b.pool { // first: the children of these are there when they are looked for
		if t.area.State() == threadarea.Ended {
			ended = append(ended, t)
		}
	}
	begun, horizon, certain := ts.newborn()
	for _, t := range begun {
		life := t.area.Life()
		if life.Begin >= horizon && !all {
			certain = false
			break
		}
		t.tid, t.begin, t.parent = life.Tid, life.Begin, b.bySelf[life.Parent]
		delete(b.place, t)
		ts.enter(t)
	}
	if len(ended) > 0 {
		ts.faults.collect()
	}
	for _, t := range ended {
		if _, unknown := b.place[t]; !unknown {
			ts.ended(t)
		}
	}
	b.pool = slices.DeleteFunc(b.pool, func(t *thread) bool { return t.dead })
	if !certain {
		b.buried = append(b.buried, known...)
		return false
	}
	for _, x := range known {
		delete(b.bySelf, x)
	}
	return true
}

// elder counts those who were created before a thread that is traced: who created
// it has created nobody since, but these may have had no core yet.
func (ts *threads) elder() {
	const patience = 200
	for range patience {
		if len(ts.births.place) == 0 || ts.census(false) {
			break
		}
		time.Sleep(50 * time.Microsecond)
	}
	ts.census(true)
}

// newborn are those from the pool who run and have no number yet, in the order in
// which they were created, which is certain for those who were before the horizon.
// settled is false where somebody is just being born.
func (ts *threads) newborn() (begun []*thread, horizon uint64, settled bool) {
	b := &ts.births
	horizon, settled = rdtsc(), true
	for _, t := range b.pool {
		at, unknown := b.place[t]
		if !unknown || ts.in.common.Offered(at) {
			continue
		}
		switch state := t.area.State(); {
		case state >= threadarea.Runs:
			begun = append(begun, t)
			continue
		case state == threadarea.Taken:
			horizon = min(horizon, t.area.Life().Begin)
		default: // it does not say yet when it was taken
			horizon = 0
		}
		settled = false
	}
	slices.SortFunc(begun, func(x, y *thread) int { return cmp.Compare(x.area.Life().Begin, y.area.Life().Begin) })
	return begun, horizon, settled
}

// ended is the death of a thread that has said so itself.
func (ts *threads) ended(t *thread) {
	if t.dead {
		return
	}
	life := t.area.Life()
	t.end, t.cpuNS = life.End, life.CPUNS
	ts.death(t)
}

// doubt is the warning where threads were killed while nobody traced them.
func (b *births) doubt() []profile.Warning {
	if b.vanished == 0 {
		return nil
	}
	return []profile.Warning{{Code: "killed", Message: fmt.Sprintf("%d threads were killed within a moment of their birth, where so many are born that not all are watched; what they did is not known", b.vanished)}}
}
