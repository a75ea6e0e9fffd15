package backend

import (
	"debug/dwarf"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cachesim"
	"github.com/skewlens/skewlens/profiler/internal/image"
)

// Job is what to run, and what to count.
type Job struct {
	Path  string     // of the program's file, absolute
	Name  string     // argv[0]
	Args  []string   // without argv[0]
	Env   []string   // all of it
	Dir   string     // working directory; "": this process's
	Files [3]uintptr // descriptors of standard input, output and error

	Events     []Events          // at least one, and none that Check refuses
	Libraries  []string          // patterns of the names of shared libraries to profile too, and NoLibraries
	Cores      int               // virtual cores, on which threads are kept together; 0: those of the machine, and whatever its scheduler does
	Machine    *cachesim.Machine // whose caches are simulated; nil: none, as where Events have no Cache
	Reuse      bool              // tell how far back accesses come, in caches of all sizes, instead of simulating Machine, which is the filter
	SampleSets int               // of the caches' sets one of so many is simulated; 0: all
	Erased     []profile.Addr    // instructions of which all accesses hit the simulated caches, and bring nothing into them
	Times      bool              // count nothing: only when threads met, worked and waited; what a lone thread meets is a section, too
	Hardware   bool              // what the kernel and the processor count, too: Events have it
	Units      bool              // tell how much work each unit of a section was, as its threads dealt it out
	Beside     bool              // others like it are profiled at the same time: it is one of a program's ranks
	FollowExec bool              // profile the last program that takes the first one's place

	// Open reads a program, or says why it cannot be profiled. What it opened
	// is closed when the outcome has been used.
	Open func(path string) (*image.Image, Lines, error)
	// Started is called once the target exists; Running when it is let go, with
	// all that counts in it; Progress at most ten times a second. Each may be nil.
	Started  func(pid int)
	Running  func()
	Progress func(elapsed time.Duration, threads, instances int)

	Analyses string  // directory where analyses of large programs are kept; "": nowhere
	Probe    string  // for measuring the native backend: probe.ParseOptions
	Testing  Testing // the zero value, but in tests
}

// NoLibraries, among patterns: those only that others match, and not by default
// what the program needs.
const NoLibraries = "none"

// Testing is what no flag offers, since only tests have a use for it.
type Testing struct {
	HoldSome bool // probe.Options.HoldSome
	Tells    bool // caches are simulated beside the program, whatever machine it is,
	// and here is put how often each instruction made an access that was told.
	Accessed *map[profile.Addr]uint64
}

// Lines maps addresses to source.
type Lines interface {
	Locate(profile.Addr) profile.Location
	// Entry locates a function by its first address.
	Entry(profile.Addr) profile.Location
	// Statement is where the first statement begins in code from one address to another.
	Statement(from, to profile.Addr) profile.Addr
	// Key names the source line of an address, or the address itself.
	Key(profile.Addr) string
	// Add reads those of the next library, whose addresses begin at the next
	// multiple of profile.LibraryStep.
	// Warnings has nothing on it where it is quiet.
	Add(path string, quiet bool) error
	// Debug is the program's debug information, and its section .debug_info; nil where
	// there is none.
	Debug() (data *dwarf.Data, info []byte)
	// Warnings are doubts about what was located.
	Warnings() []profile.Warning
}
