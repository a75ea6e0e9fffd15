package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// epoch is one meeting at a barrier or a condition variable.
type epoch struct {
	arrivals []arrival
	before   []profile.ThreadID // who met there last
	same     int                // how often in a row the same threads met
}

func (e *epoch) has(x *thread) bool {
	for i := range e.arrivals {
		if e.arrivals[i].t == x {
			return true
		}
	}
	return false
}

func (t *Tracker) epochOf(object uint64) *epoch {
	e := t.epochs[object]
	if e == nil {
		e = &epoch{}
		t.epochs[object] = e
	}
	return e
}

// barrier: an instance is complete when as many have arrived as the barrier
// counts. Where its initialisation was not seen, the first thread that comes
// again shows that the meeting before was complete.
func (t *Tracker) barrier(x *thread, r record.Record) {
	e := t.epochOf(r.Arg1)
	n := t.counts[r.Arg1]
	if n == 0 && e.has(x) {
		t.complete(profile.Barrier, e)
	}
	e.arrivals = append(e.arrivals, t.arrive(x, r))
	// The part ends here, whenever the others come.
	last := &e.arrivals[len(e.arrivals)-1]
	x.cut(*last, r.TSC)
	if n > 0 && len(e.arrivals) >= n {
		t.complete(profile.Barrier, e)
	}
}

// condWait: a thread waits on a condition variable. If it turns out that all
// others do too, until one wakes them all, that is a barrier made by hand. A
// thread that wakes too early and waits again has arrived once.
func (t *Tracker) condWait(x *thread, r record.Record) {
	if e := t.epochOf(r.Arg1); !e.has(x) {
		e.arrivals = append(e.arrivals, t.arrive(x, r))
	}
}

// condBroadcast: the waiters and the one that wakes them met at a barrier if
// nobody else could have come: every other live thread waits for a thread's
// end. Threads that meet in several groups are recognised by meeting again
// and again in the same company.
func (t *Tracker) condBroadcast(x *thread, r record.Record) {
	e := t.epochOf(r.Arg1)
	if len(e.arrivals) == 0 || e.has(x) {
		e.arrivals = e.arrivals[:0]
		return
	}
	e.arrivals = append(e.arrivals, t.arrive(x, r))
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
	everybody := true
	for _, y := range t.threads {
		if y.alive && !y.joining && !e.has(y) {
			everybody = false
			break
		}
	}
	if !everybody && (e.same < 2 || len(ids) < 3) {
		e.arrivals = e.arrivals[:0]
		return
	}
	for i := range e.arrivals {
		e.arrivals[i].t.cut(e.arrivals[i], r.TSC)
	}
	t.complete(profile.Barrier, e)
}

// complete ends a meeting: its arrivals become the parts of an instance.
func (t *Tracker) complete(kind profile.SectionKind, e *epoch) {
	for i := range e.arrivals {
		for j := range e.arrivals {
			if i != j {
				e.arrivals[i].t.met[e.arrivals[j].t.id] = true
			}
		}
	}
	if t.out.add(kind, e.arrivals) {
		t.Instances++
	}
	e.arrivals = nil
}
