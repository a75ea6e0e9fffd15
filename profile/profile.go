// Package profile is the data that everything else works on: what one run of
// a parallel program did, thread by thread and section by section.
//
//	Profile
//	├─ Graph      what the program could do: functions, blocks, edges
//	├─ Events     what was counted: a block, an edge, an indirect call …
//	├─ Threads    who ran
//	├─ Sections   a place that ends parallel work (a barrier, a join)
//	│   └─ Instances   each time the threads met there
//	│       └─ Parts   what one thread did since the meeting before: its counts and its times
//	└─ Locations  addresses that matter, as source lines
//
// A profile is made by a profiler backend, read by lime, attribution and
// report, and saved to a file. The package knows no operating system, no
// network and none of the other packages. Types carry units: an [Addr] is
// always link-time, a count is always a number of executions, a time always
// nanoseconds.
//
// What several readers work out of these data is worked out here: sums by
// slot and by thread ([Section.PartsBySlot], [Section.PartsByThread],
// [Profile.ThreadCounts]), the time that a section took ([Section.Time]), sums and
// differences of counts, the load of an instance ([Profile.Load]), the block and the source
// line of an address ([BlockIndex], [Profile.Location]).
//
// What is unknown is absent: a count that could not be derived has no event
// ([NoEvent]), a time that was not read is zero with its flag unset. Nothing
// here is ever guessed.
package profile

// Addr is a link-time address: the one that the program's file, objdump and
// addr2line know; in a library that was profiled too, that and the library's
// base. Run-time addresses never leave the backend.
type Addr uint64

// Indices into the tables of a Profile. NoEvent, NoBlock mean "none".
type (
	FunctionID int32
	BlockID    int32
	EventID    int32
	ThreadID   int32
	SlotID     int32 // from 1; 0: not known
)

const (
	NoBlock BlockID = -1 // outside the graph: before START, after an exit, in a library
	NoEvent EventID = -1 // not counted, or not derivable: unknown, never zero
)

// Profile is one run.
type Profile struct {
	Program   Program
	Run       Run
	Ranks     []Rank // of one process itself, of several all of them, by rank; none: it is not one of several
	Coverage  Coverage
	Graph     Graph
	Events    []Event // index: EventID
	Threads   []Thread
	Sections  []Section
	Locations []Location // sorted by Address; see Profile.Location
	Warnings  []Warning
}

// Program says what was run.
type Program struct {
	Path    string
	Args    []string // without the program itself
	BuildID string   // hex, empty where the file has none
	// Libraries were profiled with the program; sorted by Base.
	Libraries []Library
	// Uncounted are the paths of the shared libraries that were loaded and not
	// profiled, but for those of the languages' own runtimes; sorted.
	Uncounted []string
	// LibraryCalls are the calls in counted code of functions of these; sorted.
	LibraryCalls []Addr
}

// Library is a shared library whose functions are counted too. Its addresses
// in the profile are its own link-time ones plus Base.
type Library struct {
	Path    string
	BuildID string
	Base    Addr // > 0, a multiple of LibraryStep
}

// LibraryStep is how far the libraries' bases lie apart: more than any file.
const LibraryStep Addr = 1 << 40

// Library returns the library that an address belongs to, and the link-time
// address there; nil and the address itself for the program's.
func (p *Program) Library(a Addr) (*Library, Addr) {
	for i := range p.Libraries {
		if l := &p.Libraries[i]; a >= l.Base && a-l.Base < LibraryStep {
			return l, a - l.Base
		}
	}
	return nil, a
}

// Response names the quantity that stands for a thread's time.
type Response string

const (
	Instructions  Response = "instructions"    // executed, exact
	BusyTime      Response = "busy-time"       // the thread's CPU clock
	ModelCycles   Response = "modelled-cycles" // from the cache simulator
	HardwareCycle Response = "cycles"          // from a PMU
	TaskClock     Response = "task-clock"      // CPU time in nanoseconds, as the kernel counts it, read where parts begin and end
)

// Counted reports whether the response is counted, and so adds up exactly: it is
// not measured.
func (r Response) Counted() bool { return r == Instructions || r == ModelCycles }

// Run says how it was run.
type Run struct {
	Backend  string // native, valgrind, perf
	WallNS   int64
	Cores    int     // that the target was allowed to use
	ExitCode int     // valid when Signal is empty
	Signal   string  // the signal that ended the target, as "SIGSEGV"
	Slowdown float64 // against a run without the profiler; 0: not measured
	Virtual  int     // virtual cores, on which threads were kept together; 0: none
	Machine  string  // whose caches were simulated, in words; "": none
}

// Coverage says how much of the program's own code was counted.
type Coverage struct {
	Functions, FunctionsTotal       int
	Instructions, InstructionsTotal int // static
	Skipped                         []Skipped
}

// Skipped is a function left alone, and why.
type Skipped struct {
	Function string
	Reason   string
}

// Thread is one thread of the target, in order of birth.
type Thread struct {
	ID      ThreadID // 0 is the main thread
	Start   Addr     // the function it began in; 0: unknown
	BeginNS int64    // since the start of the run
	EndNS   int64
	CPUNS   int64
	// Creator is the thread that created it, Joiner the one that has waited for its
	// end, counted from 1; 0: nobody, or not known.
	Creator, Joiner ThreadID
	// JoinedNS is from when on Joiner could go on: it had waited for all threads that
	// it had created since it had none.
	JoinedNS int64
	// CreatedNS is when Creator was about to create it, JoinNS when Joiner called what
	// it last waited by; and each time that thread's CPU time until then. 0: not known.
	CreatedNS, CreatedCPUNS int64
	JoinNS, JoinCPUNS       int64
	// Totals are the counts of its whole life. Empty where the backend kept none.
	Totals Counts
	// With is the thread, counted from 1, whose Totals hold this one's, too: where very
	// many were begun at one place, and what each did by itself was not kept. Its own
	// With is itself. 0: Totals are its own.
	With ThreadID
	// Active is where in a block the frames stood that the thread never left
	// (its active frames), innermost first: the instruction that would have
	// come next. The counts of these blocks include the instructions from
	// there on, which were not executed.
	Active []Addr
	// Work is the instructions of its whole life, where Totals are left out, or not only
	// its own, because there are too many threads.
	Work uint64
}

// Warning is doubt about a result, shown beside it.
type Warning struct {
	Code    string // kebab-case, stable
	Message string // one sentence
}
