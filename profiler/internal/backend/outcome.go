package backend

import (
	"time"

	"github.com/skewlens/skewlens/profile"
)

// Outcome is what a backend has found out.
type Outcome struct {
	// Profile lacks what profiler adds: Run.Backend, Run.Cores, Coverage,
	// Locations, Warnings. A thread's Start is 0 where nothing but its counts
	// can tell it.
	Profile *profile.Profile
	Modules []Module // the program, then Profile.Program.Libraries
	Lines   Lines    // of these, as Job.Open gave them
	Doubts  Doubts
	Began   time.Time // the profile's moment 0
}

// Module is what is known of the program's or a library's code.
type Module struct {
	Coverage profile.Coverage
	// Begins reports whether a function begins at a link-time address.
	Begins func(link profile.Addr) bool
}

// Doubts are facts that throw doubt on a profile. Profiler words them.
type Doubts struct {
	Exec Exec
	// Contradictory names functions whose counts contradict each other; the
	// profile is without them.
	Contradictory []string
	// Abandoned names functions that were left in a way that no counter sees;
	// theirs are left out as well.
	Abandoned   []string
	LostTargets uint64            // calls through pointers whose targets were not told apart
	Children    int               // processes that it started, of which nothing is in the profile
	QueuedNS    int64             // for which threads were ready and had no core; 0: not known
	Crashed     bool              // a signal that says so ended the program
	Others      []profile.Warning // of the backend's own kind
}

// Exec says what became of a process whose program was replaced (execve).
type Exec struct {
	Replaced []string // programs that ran before the profile's, whose place it took
	By       string   // the program that took the place of the profile's; "": none
	Refused  error    // why that one was not followed, where it should have been
}
