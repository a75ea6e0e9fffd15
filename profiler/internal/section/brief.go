package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// Meetings of goroutines that hardly do anything in between. At first they are looked at
// as any; when a line has let many of them go on, they are none, and those that were
// noted are dropped. A wait that nothing but such lines has ended is not recorded from then
// on: to look at it costs the program more than the wait does.

// brief is what is known of goroutines that one line lets go on: whether they hardly do
// anything between two meetings.
type brief struct {
	meetings    int
	busy, parts int64
	filed       []*open
	closed      bool // they are of no interest
}

const (
	briefNS    = 30e3 // for each goroutine, on average: to look at that takes longer
	manyBriefs = 64   // after so many meetings, and again
)

// briefAt is what is known of those that a wake lets go on; nil of threads.
func (c conditionRule) briefAt(wakes profile.Addr) *brief {
	if !c.t.c.Goroutines {
		return nil
	}
	line := c.t.c.Line(wakes)
	if c.brief[line] == nil {
		c.brief[line] = &brief{}
	}
	return c.brief[line]
}

// met notes a meeting. If they turn out to be brief there are none.
func (b *brief) met(parts []arrival, out *collector) {
	for i := range parts {
		b.busy += parts[i].busyNS
	}
	b.parts += int64(len(parts))
	if o := out.latest; o != nil && !slices.Contains(b.filed, o) {
		b.filed = append(b.filed, o)
	}
	if b.meetings++; b.meetings%manyBriefs == 0 && b.busy < briefNS*b.parts {
		for _, o := range b.filed {
			out.drop(o)
		}
		b.filed, b.closed = nil, true
	}
}

// mixed stands for the lines that have ended a wait, where they are several.
var mixed = &brief{}

// wokenBy notes who ended waits; b is nil of threads.
func (c conditionRule) wokenBy(b *brief, waiting []arrival) {
	if b == nil {
		return
	}
	for i := range waiting {
		switch at := waiting[i].site; c.ends[at] {
		case nil:
			c.ends[at] = b
		case b, mixed:
		default:
			c.ends[at] = mixed
		}
	}
}

// Unheard tells whether waits at a call of the program's are of no interest, or no more.
func (t *Tracker) Unheard(call profile.Addr) bool {
	b := t.conditions.ends[call]
	return b != nil && b.closed || t.locks.tired(call)
}
