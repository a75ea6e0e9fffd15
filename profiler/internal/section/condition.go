package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// conditionRule: threads wait on a condition variable. If it turns out that
// all others do too, until one wakes them all, that is a barrier made by hand.
type conditionRule struct{ t *Tracker }

func conditions(t *Tracker) rule {
	c := conditionRule{t}
	return rule{calls: []call{
		{names: []string{"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait"},
			arrive: c.wait, waits: true},
		{names: []string{"pthread_cond_broadcast", "cnd_broadcast"}, arrive: c.broadcast, wakes: true},
		{names: []string{"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", "_ZNSt18condition_variable10notify_allEv"}, inside: true},
	}}
}

// wait: a thread that wakes too early and waits again has arrived once.
func (c conditionRule) wait(x *thread, r record.Record) {
	if e := c.t.epochOf(r.Arg1); !e.has(x) {
		e.arrivals = append(e.arrivals, x.arrive(r))
	}
}

// broadcast: the waiters and the one that wakes them met at a barrier if
// nobody else could have come: every other live thread waits for a thread's
// end. Threads that meet in several groups are recognised by meeting again
// and again in the same company.
func (c conditionRule) broadcast(x *thread, r record.Record) {
	e := c.t.epochOf(r.Arg1)
	if len(e.arrivals) == 0 || e.has(x) {
		e.arrivals = e.arrivals[:0]
		return
	}
	e.arrivals = append(e.arrivals, x.arrive(r))
	ids := make([]profile.ThreadID, 0, len(e.arrivals))
	for i := range e.arrivals {
		ids = append(ids, e.arrivals[i].t.id)
	}
	slices.Sort(ids)
	if slices.Equal(ids, e.before) {
		e.same++
	} else {
		e.before, e.same = ids, 0
	}
	if !c.everybody(e) && (e.same < 2 || len(ids) < 3) {
		e.arrivals = e.arrivals[:0]
		return
	}
	for i := range e.arrivals {
		e.arrivals[i].t.cut(e.arrivals[i], r.TSC)
	}
	if c.onlyWakes(e) {
		e.arrivals = e.arrivals[:len(e.arrivals)-1]
	}
	e.byHand = true
	c.t.complete(profile.Barrier, e)
}

// onlyWakes reports whether the one that woke the others, who came last, takes
// no part: it came by calls of its own, and did less than a twentieth of what
// the others did.
func (c conditionRule) onlyWakes(e *epoch) bool {
	last := len(e.arrivals) - 1
	w := &e.arrivals[last]
	if last < 2 || len(w.chain) == 0 {
		return false
	}
	own, sum := c.t.out.spots(w), uint64(0)
	for i := range e.arrivals[:last] {
		a := &e.arrivals[i]
		if len(a.chain) == 0 || slices.ContainsFunc(c.t.out.spots(a), func(x spot) bool { return indexOf(own, x) >= 0 }) {
			return false
		}
		sum += c.t.c.Work(a.delta)
	}
	return c.t.c.Work(w.delta) < sum/uint64(20*last)
}

// everybody reports whether all threads came that could have come.
func (c conditionRule) everybody(e *epoch) bool {
	for _, y := range c.t.threads {
		if y.alive && !y.joining && !e.has(y) {
			return false
		}
	}
	return true
}
