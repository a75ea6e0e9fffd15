package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// arrival is a thread at the end of its part.
type arrival struct {
	t        *thread
	tsc      uint64
	site     profile.Addr
	chain    []uint64 // the calls that led there, that of the site first; nil: not known
	delta    []record.Delta
	begin    profile.Addr
	beginTSC uint64
	busyNS   int64
	timed    bool
	cpu      int64 // the CPU clock, −1: unknown
}

// epoch is one meeting at an object: a barrier, a condition variable.
type epoch struct {
	arrivals []arrival
	before   []profile.ThreadID // who met there last
	same     int                // how often in a row the same threads met
	byHand   bool               // by calls of several kinds
}

func (e *epoch) has(x *thread) bool {
	return slices.ContainsFunc(e.arrivals, func(a arrival) bool { return a.t == x })
}

// leave takes out a thread that will not come to where it was waited for.
func (e *epoch) leave(x *thread) {
	e.arrivals = slices.DeleteFunc(e.arrivals, func(a arrival) bool { return a.t == x })
}

// epochOf is the meeting that is under way at an object.
func (t *Tracker) epochOf(object uint64) *epoch {
	e := t.epochs[object]
	if e == nil {
		e = &epoch{}
		t.epochs[object] = e
	}
	return e
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
	t.file(kind, e.arrivals, e.byHand)
	e.arrivals = nil
}

// file makes arrivals an instance of the section that they end.
func (t *Tracker) file(kind profile.SectionKind, arrivals []arrival, byHand bool) {
	if t.out.add(kind, arrivals, byHand) {
		t.Instances++
	}
}
