package section

import "slices"

// Threads that meet at a barrier may leave in the order in which they came, time
// after time, as those do that queue for a lock: the code may be made so, and a
// thread that wakes others may have to leave its core to them. What two do at a
// lock, and not at a barrier, is to come again while the other one still waits;
// and there it is not the one that came last that lets the first go.

// crowds: a round of a trial is about to begin while somebody is still in the one before.
func (c *code) crowds(i int, t *trial, object uint64) bool {
	if t.open[object] != nil {
		return false
	}
	for _, p := range c.seen {
		if y := p.rounds[i]; p.inside && y != nil && y.object == object {
			return true
		}
	}
	return false
}

// left: a thread leaves a round.
func (y *round) left(x *thread, p *passing) {
	waits := func() []wait {
		return slices.DeleteFunc(slices.Clone(x.waits), func(w wait) bool { return w.begin < p.arrived.tsc })
	}
	switch x {
	case y.arrivals[0].t:
		y.waits[0] = waits()
	case y.last().t:
		y.waits[1], y.behind = waits(), true
	}
}

func (y *round) last() *arrival { return &y.arrivals[len(y.arrivals)-1] }

// lets: the first thread of a round waited until the last one had come, and that
// one woke it, or did not wait for the same: it may have had to leave its core in
// the call by which it let the first go.
func (y *round) lets() bool {
	b := y.last()
	return slices.ContainsFunc(y.waits[0], func(w wait) bool {
		like := func(v wait) bool { return v.Site == w.Site }
		return w.begin < b.tsc && w.end > b.tsc && (w.on.wokenBy(b.t, b.tsc) || y.behind && !slices.ContainsFunc(y.waits[1], like))
	})
}

// wokenBy: a thread has, since a moment, woken those who waited for the same.
func (s *sleeper) wokenBy(x *thread, since uint64) bool {
	return s != nil && slices.ContainsFunc(s.on.wakes, func(k waker) bool {
		return k.by == x.id && k.begin > since && k.begin < s.end
	})
}

// inTurn: it is a barrier all the same, though the first to come is the first to leave.
func (t *trial) inTurn() bool {
	n, lets, crowded := len(t.rounds), 0, t.crowded
	for _, y := range t.rounds {
		if len(y.arrivals) != 2 {
			crowded = n
		}
		if y.lets() {
			lets++
		}
	}
	return crowded*4 <= n || lets*2 >= n
}

// awaits: in most rounds of a trial somebody waited, together with some whom it has
// created, for a thread that was not there yet when it woke it. So does who
// hands out work, where its own wait and that of idle workers are in one function: who
// has little to do is back in it in each round, and the slow one never comes, or only
// while who it has woken waits for a core. At a barrier who wakes others has come first.
func (t *trial) awaits() bool {
	n := 0
	for _, y := range t.rounds {
		if y.calledAway(0, &y.arrivals[0]) || y.calledAway(1, y.last()) {
			n++
		}
	}
	return n*2 > len(t.rounds)
}

// calledAway: the first or the last thread of a round has created all others of it, and
// what it waited for last was ended from outside of the round.
func (y *round) calledAway(i int, a *arrival) bool {
	waits := y.waits[i]
	if len(waits) == 0 || slices.ContainsFunc(y.arrivals, func(b arrival) bool { return b.t != a.t && b.t.parent != a.t }) {
		return false
	}
	s := waits[len(waits)-1].on
	return s != nil && !slices.ContainsFunc(y.arrivals, func(b arrival) bool { return b.t != a.t && s.wokenBy(b.t, b.tsc) }) &&
		slices.ContainsFunc(s.on.wakes, func(k waker) bool { return k.begin > s.begin && k.begin < s.end && k.by != a.t.id })
}
