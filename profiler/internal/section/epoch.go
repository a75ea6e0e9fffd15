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
	waits    []wait
	begin    profile.Addr
	beginTSC uint64
	busyNS   int64
	timed    bool
	cpu      int64    // the CPU clock, −1: unknown
	ended    bool     // it waited for nobody: it has ended
	lacks    *undone  // as the thread's, then
	before   *arrival // what it did before it had helpers that it joined, and is of the same part; nil: nothing

	inner     []record.Delta // of the forks inside it, what it had to wait for
	innerBusy int64
	byChance  []record.Delta // of tasks that it executed while it waited,
	until     uint64         // and when it last began one's round, or left one's loop;
	worked    uint64         // they were over then, at the latest; 0: there were none
}

// epoch is one meeting at an object: a barrier, a condition variable.
type epoch struct {
	arrivals []arrival
	before   []profile.ThreadID // who met there last
	same     int                // how often in a row the same threads met
	made     making
	passed   map[*thread]int // how often a thread had come out of where it waits, when it came to this
	again    int             // threads that waited again without having come out
	wakes    int             // how often who waited was woken,
	changes  int             // and others than before
	held     []held          // meetings before of the same threads, of which it is not known
}

// has reports whether a thread has come: hundreds may wait for a condition, time and again.
func (e *epoch) has(x *thread) bool {
	for i := range e.arrivals {
		if e.arrivals[i].t == x {
			return true
		}
	}
	return false
}

// comes: a thread has come to where others are waited for.
func (e *epoch) comes(a arrival) {
	e.arrivals = append(e.arrivals, a)
	if x := a.t; !slices.Contains(x.came, e) {
		x.came = append(x.came, e)
	}
}

// leave takes out a thread that will not come to where it was waited for.
func (e *epoch) leave(x *thread) {
	e.arrivals = slices.DeleteFunc(e.arrivals, func(a arrival) bool { return a.t == x })
	delete(e.passed, x)
	if slices.Contains(e.before, x.id) { // nor do the same meet there again
		e.held = nil
	}
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

// making is how a meeting is made, which tells where it stands.
type making int

const (
	byLibrary     making = iota
	byHand               // by calls of several kinds
	byCoordinator        // by hand, by one who takes no part
)

// complete ends a meeting: its arrivals become the parts of an instance.
func (t *Tracker) complete(kind profile.SectionKind, e *epoch) {
	t.meetings++
	for i := range e.arrivals {
		e.arrivals[i].t.meeting = t.meetings
	}
	for i := range e.arrivals {
		x := e.arrivals[i].t
		x.metParent = x.metParent || x.parent != nil && x.parent.meeting == t.meetings
	}
	t.file(kind, e.arrivals, e.made)
	e.arrivals = nil
}

// file makes arrivals an instance of the section that they end.
func (t *Tracker) file(kind profile.SectionKind, arrivals []arrival, made making) {
	for i := range arrivals {
		if b := arrivals[i].before; b != nil {
			arrivals[i].before = nil
			arrivals[i] = arrivals[i].after(b)
		}
	}
	t.mpi.met(arrivals)
	if t.out.add(kind, arrivals, made) {
		t.Instances++
	}
}
