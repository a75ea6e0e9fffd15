package section

import (
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Finish ends the stream and returns the sections. Meetings that were not
// complete when the program ended are dropped: an instance of some of its
// threads says nothing about balance.
func (t *Tracker) Finish() []profile.Section {
	t.Advance(^uint64(0))
	for _, r := range t.listening() {
		if r.end != nil {
			r.end()
		}
	}
	if len(t.out.order) == 0 && !t.c.Goroutines && !t.joins.filed {
		t.wholeLives()
	}
	return t.out.finish()
}

// NeedsLives reports whether what threads did in their lives may be a section.
func (t *Tracker) NeedsLives() bool { return !t.c.Goroutines && !t.joins.filed }

// Lived tells all that a thread has counted in its life, before it is said to have died.
func (t *Tracker) Lived(id profile.ThreadID, all []record.Delta) { t.threads[id].life = all }

// lifelong is a thread's life as a part. What was taken for a meeting, and turned out to be
// none, has ended parts before, of which it would lack what was done in them.
func (x *thread) lifelong() arrival {
	a := *x.end
	if x.cuts > 0 && x.life != nil {
		a.delta, a.begin, a.beginTSC, a.inner, a.innerBusy = x.life, x.start, x.born, nil, 0
		a.busyNS, a.timed = max(0, a.cpu), a.cpu >= 0
	}
	return a
}

// workers leaves out threads that did less than a hundredth of the one that did most, as
// all did that began where they did: they wait for signals, or keep the time, and have no
// share in the work.
func (t *Tracker) workers(lives []arrival) []arrival {
	most, by := uint64(0), map[profile.Addr]uint64{}
	for i := range lives {
		did := t.c.Work(lives[i].delta)
		most, by[lives[i].t.start] = max(most, did), max(by[lives[i].t.start], did)
	}
	return slices.DeleteFunc(lives, func(a arrival) bool { return by[a.t.start] < most/100 })
}

// wholeLives makes a section of what is known when no meeting was found: all
// threads but the first, from birth to death.
func (t *Tracker) wholeLives() {
	var lives []arrival
	for _, x := range t.threads {
		if x.parent != nil && x.end != nil {
			lives = append(lives, x.lifelong())
		}
	}
	if lives = t.workers(lives); len(lives) < 2 {
		return
	}
	slices.SortFunc(lives, func(a, b arrival) int { return int(a.t.id - b.t.id) })
	t.out.add(profile.Threads, lives, byLibrary)
	for _, o := range t.out.order {
		o.s.Warnings = append(o.s.Warnings, profile.Warning{Code: "whole-threads", Message: fmt.Sprintf(
			"no place was found where the threads meet: the %d threads' whole lives are taken as one section", len(lives))})
	}
}
