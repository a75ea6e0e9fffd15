package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// conditionRule: threads wait on a condition variable. If it turns out that
// all others do too, until one wakes them all, that is a barrier made by hand.
type conditionRule struct {
	t     *Tracker
	calls map[[2]profile.Addr]bool // of waits and wakes: whether they are apart
	brief map[string]*brief        // by line of the wakes
	ends  map[profile.Addr]*brief  // by wait: of those that ended it; mixed if of several lines
}

func conditions(t *Tracker) rule {
	c := conditionRule{t, map[[2]profile.Addr]bool{}, map[string]*brief{}, map[profile.Addr]*brief{}}
	if t != nil {
		t.conditions = c
	}
	return rule{calls: []call{
		{names: []string{"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait", "g_cond_wait", "g_cond_wait_until", "sync.(*Cond).Wait"},
			arrive: c.wait, waits: true},
		{names: []string{"pthread_cond_broadcast", "cnd_broadcast", "g_cond_broadcast", "sync.(*Cond).Broadcast"}, arrive: c.broadcast, wakes: true},
		{names: []string{"pthread_cond_signal", "cnd_signal", "g_cond_signal", "sync.(*Cond).Signal"}, arrive: c.signal, wakes: true},
		{names: []string{"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", "_ZNSt18condition_variable10notify_allEv"}, inside: true},
	}}
}

// wait: a thread that wakes too early and waits again has arrived once.
func (c conditionRule) wait(x *thread, r record.Record) {
	if e := c.t.epochOf(r.Arg1); !e.has(x) {
		e.comes(c.comes(x, e, r))
		e.waitAgain(x, c.t.pools.passed(x))
	}
}

// comes describes the part of a thread that waits or wakes. Until it is known that this is
// a barrier, parts do not end there.
func (c conditionRule) comes(x *thread, e *epoch, r record.Record) arrival {
	if e.same < 2 || len(e.held) > 0 {
		return x.arrive(r)
	}
	return c.t.meets(x, r)
}

// mayChange is how often others may come to a barrier than before: at its
// beginning, while threads are created.
const mayChange = 3

// mayWakeForNothing is how often threads of a barrier may wait again without
// having come out of it: the system may wake who wants.
const mayWakeForNothing = 1

// waitAgain notes whether a thread that waits has been let go on since it last
// did so here: at a queue all are woken, and who finds nothing waits again.
func (e *epoch) waitAgain(x *thread, passed int) {
	if e.passed == nil {
		e.passed = map[*thread]int{}
	}
	if before, known := e.passed[x]; known && passed > 0 && passed == before {
		e.again++
	}
	e.passed[x] = passed
}

// signal wakes one: that makes no barrier.
func (c conditionRule) signal(x *thread, r record.Record) { c.t.pools.wakes(x, r) }

// broadcast: the waiters and the one that wakes them met at a barrier if
// nobody else could have come: every other live thread waits for a thread's
// end. Threads that meet in several groups are recognised by meeting again
// and again in the same company.
func (c conditionRule) broadcast(x *thread, r record.Record) {
	c.t.pools.wakes(x, r)
	e := c.t.epochOf(r.Arg1)
	if len(e.arrivals) == 0 || e.has(x) {
		e.arrivals = e.arrivals[:0]
		return
	}
	b := c.briefAt(profile.Addr(r.Site))
	c.wokenBy(b, e.arrivals)
	if b != nil && b.closed || e.again > mayWakeForNothing || c.t.out.foreign(e.arrivals) || c.waitsApart(e.arrivals, profile.Addr(r.Site)) {
		e.arrivals, e.held = nil, nil
		return
	}
	e.arrivals = append(e.arrivals, c.comes(x, e, r))
	e.noteCompany()
	if e.changes > mayChange && 2*e.changes > e.wakes {
		e.arrivals, e.held = nil, nil // whoever happens to wait is woken
		return
	}
	if e.same == 0 {
		e.held = nil
	}
	last := len(e.arrivals) - 1
	apart, hands := !c.comesAsOthers(&e.arrivals[last], e.arrivals[:last]), noMeeting
	if apart {
		hands = c.t.pools.handsOut(x, e.arrivals[:last])
	}
	if hands == meeting { // work, to a pool
		e.arrivals, e.held = nil, nil
		return
	}
	// Done once by calls of its own, it may be a start signal.
	if few := e.same < 2 || len(e.before) < 3; hands == undecided || few && (apart || !c.everybody(e)) {
		e.held = append(e.held, held{e.arrivals, r.TSC})
		e.held = e.held[max(0, len(e.held)-maxHeld):]
		e.arrivals = nil
		return
	}
	if apart {
		c.t.pools.coordinates(x, e.arrivals[:last])
	}
	c.meets(e, b, r.TSC)
}

// meets files a meeting, and those before of which it was not known; b: of goroutines.
func (c conditionRule) meets(e *epoch, b *brief, tsc uint64) {
	for i := range e.arrivals {
		e.arrivals[i].t.cut(e.arrivals[i], tsc)
	}
	e.held = append(e.held, held{e.arrivals, tsc})
	for k := len(e.held) - 1; k > 0; k-- {
		e.held[k].after(&e.held[k-1])
	}
	for _, h := range e.held {
		e.arrivals, e.made = h.arrivals, byHand
		if c.onlyWakes(e) {
			e.arrivals, e.made = e.arrivals[:len(e.arrivals)-1], byCoordinator
		}
		parts := e.arrivals
		if c.t.complete(profile.Barrier, e); b != nil {
			b.met(parts, c.t.out)
		}
	}
	e.held = nil
}

// waitsApart reports whether somebody waits in another critical section of the function
// than that in which he is woken: for something that was to be done, not for all.
func (c conditionRule) waitsApart(waiting []arrival, wakes profile.Addr) bool {
	if c.t.c.Apart == nil {
		return false
	}
	return slices.ContainsFunc(waiting, func(a arrival) bool {
		k := [2]profile.Addr{a.site, wakes}
		is, known := c.calls[k]
		if !known {
			is = c.t.c.Apart(a.site, wakes)
			c.calls[k] = is
		}
		return is
	})
}

// noteCompany notes whether those have come who came before.
func (e *epoch) noteCompany() {
	ids := make([]profile.ThreadID, 0, len(e.arrivals))
	for i := range e.arrivals {
		ids = append(ids, e.arrivals[i].t.id)
	}
	slices.Sort(ids)
	if slices.Equal(ids, e.before) {
		e.same++
	} else {
		e.before, e.same = ids, 0
		e.changes++
	}
	e.wakes++
}

// held is a meeting of which it was not known whether it was one of all: the
// first thread of a program may not have come to its joins yet. Where the same
// threads turn out to make a barrier, that one was one too.
type held struct {
	arrivals []arrival
	over     uint64 // when it was
}

const maxHeld = 256 // rounds may be short, and the first thread may come to its joins late

// after takes out of the parts what belongs to a meeting before, which did not
// end any part then.
func (h *held) after(before *held) {
	for i := range h.arrivals {
		a := &h.arrivals[i]
		for j := range before.arrivals {
			b := &before.arrivals[j]
			if a.t != b.t || a.beginTSC != b.beginTSC {
				continue
			}
			a.delta, a.busyNS = record.Sub(a.delta, b.delta), max(0, a.busyNS-b.busyNS)
			a.begin, a.beginTSC = b.site, max(b.tsc, before.over)
		}
	}
}

// onlyWakes reports whether the one that woke the others, who came last, takes
// no part: it came by calls of its own, and did less than a twentieth of what
// the others did.
func (c conditionRule) onlyWakes(e *epoch) bool {
	last := len(e.arrivals) - 1
	w := &e.arrivals[last]
	if last < 2 || c.comesAsOthers(w, e.arrivals[:last]) {
		return false
	}
	sum, most := uint64(0), c.t.c.Work(w.delta)*uint64(20*last)
	for i := range e.arrivals[:last] {
		if sum += c.t.c.Work(e.arrivals[i].delta); sum > most {
			return true
		}
	}
	return false
}

// comesAsOthers: a thread came by calls that one of the others came by too, or is
// in the same function, or that is not known.
func (c conditionRule) comesAsOthers(w *arrival, others []arrival) bool {
	if len(w.chain) == 0 {
		return true
	}
	own := c.t.out.spots(w)
	return slices.ContainsFunc(others, func(a arrival) bool {
		its := c.t.out.spots(&a)
		return len(a.chain) == 0 || own[0].function != "" && own[0].function == its[0].function || slices.ContainsFunc(its, func(x spot) bool { return indexOf(own, x) >= 0 })
	})
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
