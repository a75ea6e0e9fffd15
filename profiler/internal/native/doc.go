// Package native is the backend that runs the user's own binary at nearly its
// own speed: it moves the program's functions into a code cache with counters
// inline (package probe), lets the threads run free, and collects what they
// recorded (package section).
//
//	image ─▶ cfg ─▶ relocate.Spec
//	                   │   tracee: stopped at the program's entry
//	                   ├─▶ code cache, patches, one shared memory area a thread
//	                   │   tracee: runs; stops only at births, deaths, full rings
//	                   └─▶ records ─▶ section.Tracker ─▶ profile
//
// Every thread of the target counts in its own area, which GS points to. The
// areas are one memfd, mapped here too, so that counters and rings are read
// while the program runs, without stopping anything.
package native

import (
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
)

// Config is what to run.
type Config struct {
	Path       string
	Name       string // argv[0]
	Args       []string
	Env        []string
	Dir        string
	Files      [3]uintptr
	Probe      string                                              // probe.ParseOptions
	Open       func(path string) (*image.Image, Lines, error)      // reads a program, or says why it cannot be profiled
	Analyses   string                                              // directory of analyses of large programs; "": none
	Libraries  []string                                            // patterns of the names of shared libraries to profile too
	FollowExec bool                                                // profile the last program that takes the first one's place
	Started    func(pid int)                                       // the target exists; may be nil
	Progress   func(elapsed time.Duration, threads, instances int) // at most ten times a second; may be nil
}

// Lines maps addresses to source.
type Lines interface {
	Locate(profile.Addr) profile.Location
	// Entry locates a function by its first address.
	Entry(profile.Addr) profile.Location
	// Key names the source line of an address, or the address itself.
	Key(profile.Addr) string
	// Add reads those of the next library, whose addresses begin at the next
	// multiple of profile.LibraryStep.
	Add(path string) error
	// Warnings are doubts about what was located.
	Warnings() []profile.Warning
}

const (
	maxThreads  = 4096
	maxArea     = 64 << 30 // of address space for all areas
	keepCounts  = 32 << 20 // bytes of instances kept whole
	cpuClockGap = 50 * time.Microsecond
)

// rdtsc reads the time stamp counter.
func rdtsc() uint64

// clock relates the time stamp counter to nanoseconds.
type clock struct {
	tsc uint64
	at  time.Time
}

func startClock() clock { return clock{rdtsc(), time.Now()} }

// nsPerTick measures from the clock's start until now. Reading the program has
// taken some milliseconds by then, enough for five digits.
func (c clock) nsPerTick() float64 {
	for time.Since(c.at) < 2*time.Millisecond {
	}
	return float64(time.Since(c.at).Nanoseconds()) / float64(rdtsc()-c.tsc)
}
