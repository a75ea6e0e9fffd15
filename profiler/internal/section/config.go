package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Config is what the tracker needs from the backend that feeds it.
type Config struct {
	// Solve turns a part's counters into counts of events. It must be linear:
	// of a sum of counters it gives the sum of the counts.
	Solve func([]record.Delta) profile.Counts
	// Work is the instructions of a part, much cheaper than solving it.
	Work func([]record.Delta) uint64
	// Wakes is how often a part called what lets waiting threads go on, whether or
	// not any waited; may be nil.
	Wakes func([]record.Delta) uint64
	// Line names the source line of a call, so that copies of one call made by
	// the compiler are one section; its address when there is no line.
	Line func(profile.Addr) string
	// Locate says where a call stands in the source; may be nil.
	Locate func(profile.Addr) profile.Location
	// Passes tells whether a part entered the function that holds a call; may
	// be nil.
	Passes func(profile.Counts, profile.Addr) bool
	// Entered tells whether a part entered a function; may be nil.
	Entered func(profile.Counts, profile.Addr) bool
	// Apart tells whether two calls stand in critical sections of their own; may
	// be nil.
	Apart func(a, b profile.Addr) bool
	// Gate hears that gates of a number are of interest for ever, or no more;
	// may be nil.
	Gate func(number uint64, of bool)
	// Loop tells of a loop that may deal work out, by its number in records; nil: such
	// loops are not recorded.
	Loop func(number int32) Loop
	// Times: nothing was counted, and only times are of interest: also of what a lone
	// thread does up to where others would meet it.
	Times bool
	// Goroutines: threads are those of a program in Go.
	Goroutines bool
	// Main is the file of its main function. What is in modules that were fetched is none of
	// the user's own, but for those of a program that was: "" is not known, and all is; may be
	// nil.
	Main      func() string
	MPI       MPI
	BeginTSC  uint64 // of the run
	NSPerTick float64
	MaxBytes  int // of counts kept; what is over it is folded, oldest first
}

// Loop is one whose rounds may be units of work.
type Loop struct {
	At    profile.Addr // where a round ends
	Index bool         // records of it have what it counts by
	Takes bool         // a thread takes in it what is to be done next, as from a counter that all share
}

func (c *Config) wakes(d []record.Delta) uint64 {
	if c.Wakes == nil {
		return 0
	}
	return c.Wakes(d)
}

// MPI is what a process's implementation of MPI calls what all have: communicators
// that are there from the start, in C and in Fortran, and the kind of one for each node.
type MPI struct {
	Numbers                   bool // handles are numbers of 32 bits
	World, Self               uint64
	FortranWorld, FortranSelf uint64
	Shared                    uint32
	Host                      string // where the process runs
}
