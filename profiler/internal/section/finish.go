package section

import (
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
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

// wholeLives makes a section of what is known when no meeting was found: all
// threads but the first, from birth to death.
func (t *Tracker) wholeLives() {
	var lives []arrival
	for _, x := range t.threads {
		if x.parent != nil && x.end != nil {
			lives = append(lives, *x.end)
		}
	}
	if len(lives) < 2 {
		return
	}
	slices.SortFunc(lives, func(a, b arrival) int { return int(a.t.id - b.t.id) })
	t.out.add(profile.Threads, lives, byLibrary)
	for _, o := range t.out.order {
		o.s.Warnings = append(o.s.Warnings, profile.Warning{Code: "whole-threads", Message: fmt.Sprintf(
			"no place was found where the threads meet: the %d threads' whole lives are taken as one section", len(lives))})
	}
}
