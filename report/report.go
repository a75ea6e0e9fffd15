// Package report turns a profile into findings: which parallel sections are
// imbalanced, which source lines introduce it, what each of them costs, and
// what there is to doubt. It is where measurement and mathematics meet the
// reader; the command line and the editors show the same findings.
//
//	profile.Profile ──┬─ lime, section by section ───┐                       ┌─▶ WriteJSON    the contract
//	                  ├─ seconds, threads, coverage ─┼─ New ──▶ Report ──────┼─▶ report/text  terminals
//	                  └─ addresses → source lines ───┘            │          └─▶ report/html  browsers
//	                                                              └ Compare ──▶ Comparison of two runs
//
// A [Report] is the contract: its field names in JSON are stable, fields are
// added but never renamed. A number that is not known is absent, never zero,
// so optional numbers are pointers here. Everything is sorted, and nothing
// depends on the clock, the machine or the order of a map: the same profile
// gives the same bytes.
package report

import "github.com/skewlens/skewlens/profile"

// Version of the JSON contract.
const Version = 1

// Report is what there is to say about one run.
type Report struct {
	Version  int       `json:"version"`
	Program  Program   `json:"program"`
	Run      Run       `json:"run"`
	Coverage Coverage  `json:"coverage"`
	Sections []Section `json:"sections"`           // those that lost most first
	Memory   *Memory   `json:"memory,omitempty"`   // of the whole run, where caches were simulated
	Hardware *Hardware `json:"hardware,omitempty"` // of the whole run, where the kernel's and the processor's counters were read
	// CacheSizes is what caches of several sizes would have missed; where the run told it.
	CacheSizes *CacheSizes `json:"cache_sizes,omitempty"`
	// CriticalPath is what the run cannot be shorter than; none where the profile does not tell.
	CriticalPath *CriticalPath `json:"critical_path,omitempty"`
	Ranks        *Ranks        `json:"ranks,omitempty"` // of a program of several processes
	Warnings     []Warning     `json:"warnings"`
}

// Program says what was run.
type Program struct {
	Path    string   `json:"path"`
	Args    []string `json:"args"`
	BuildID string   `json:"build_id,omitempty"`
	// Libraries were profiled with the program.
	Libraries []Library `json:"libraries,omitempty"`
}

// Library is a shared library.
type Library struct {
	Path    string `json:"path"`
	BuildID string `json:"build_id,omitempty"`
}

// Run says how it was run.
type Run struct {
	Backend  string   `json:"backend"`
	Threads  int      `json:"threads"`         // the most that took part in one section, of a rank where there are any
	Ranks    int      `json:"ranks,omitempty"` // processes that ran at the same time
	Cores    int      `json:"cores,omitempty"`
	WallS    *float64 `json:"wall_s,omitempty"`
	Response string   `json:"response"`
	Slowdown *float64 `json:"slowdown,omitempty"`
	Virtual  int      `json:"virtual_cores,omitempty"` // on which threads were kept together
	Machine  string   `json:"machine,omitempty"`       // whose caches were simulated
	ExitCode int      `json:"exit_code"`
	Signal   string   `json:"signal,omitempty"` // that ended the program
}

// Coverage says how much of the program was counted.
type Coverage struct {
	Functions       int       `json:"functions"`
	FunctionsTotal  int       `json:"functions_total"`
	InstructionsPct *float64  `json:"instructions_pct,omitempty"`
	Skipped         []Skipped `json:"skipped"`
}

// Skipped is a function that was left alone.
type Skipped struct {
	Function string `json:"function"`
	Reason   string `json:"reason"`
}

// Section is a parallel section over all its instances.
type Section struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Location  *Location `json:"location,omitempty"` // none for whole thread lives
	Callers   []Place   `json:"callers,omitempty"`  // the calls that lead there, from the inside outwards, where all who meet came by them
	Instances int       `json:"instances"`
	Imbalance *float64  `json:"imbalance,omitempty"` // none when the section could not be analysed
	Balanced  bool      `json:"balanced"`
	TimeS     *float64  `json:"time_s,omitempty"`
	IdleS     *float64  `json:"idle_s,omitempty"` // waited, all threads together
	// Virtual is the time on cores of their own, where threads were kept together so.
	Virtual   *Virtual `json:"virtual,omitempty"`
	R2        *float64 `json:"r2,omitempty"`
	JointGain *Gain    `json:"joint_gain,omitempty"`
	Threads   []Thread `json:"threads"`
	// BusyCounted is the share of the threads' busy time in code that was counted.
	BusyCounted *float64 `json:"busy_counted,omitempty"`
	Waits       []Wait   `json:"waits"` // those that took longest first
	Causes      []Cause  `json:"causes"`
	// Lines are those on which its work is, those with most first.
	Lines []WorkLine `json:"lines"`
	// Units, how else they might be dealt, the best first, and what to expect at more
	// threads; only where the run looked at them.
	Units      *Units      `json:"units,omitempty"`
	Dealings   []Dealing   `json:"dealings,omitempty"`
	Forecast   []Forecast  `json:"forecast,omitempty"`
	Warnings   []Warning   `json:"warnings"`
	Memory     *Memory     `json:"memory,omitempty"`   // where caches were simulated
	Hardware   *Hardware   `json:"hardware,omitempty"` // where the kernel's and the processor's counters were read
	CacheSizes *CacheSizes `json:"cache_sizes,omitempty"`
	OnPath     *OnPath     `json:"on_critical_path,omitempty"`
	// Verified is what another run showed, in which the misses of all causes were hits.
	Verified *Verified `json:"verified,omitempty"`
	// Negligible sections lost so little of the run that nothing follows from them.
	Negligible bool `json:"negligible"`

	// Critical is Σ over the instances of the instructions of the thread that
	// executed most: what the section would last on a core per thread.
	Critical uint64 `json:"-"`
	// CriticalBusyS is the same in CPU seconds, however many cores there were.
	CriticalBusyS *float64 `json:"-"`
	// IdleInstructions is Σ (Tmax − T) over threads and instances.
	IdleInstructions uint64 `json:"-"`
}

// Wait is how long threads waited for something at a line.
type Wait struct {
	Kind     string    `json:"kind"` // barrier, join, condition, lock, sleep, io, fault, spin
	Location *Location `json:"location,omitempty"`
	Seconds  float64   `json:"seconds"` // all threads together
	Threads  int       `json:"threads"` // how many waited
	Waker    *Waker    `json:"waker,omitempty"`
	Partner  *Rank     `json:"partner,omitempty"` // of a message, the rank that most of it was for
}

// Waker is the line that most of a wait was for: whose wakes ended it, of a
// lock the one that let go of it, which its thread had held for so long.
type Waker struct {
	Location *Location `json:"location"`
	Seconds  float64   `json:"seconds"`
	Share    float64   `json:"share"`            // of the wait
	Threads  int       `json:"threads"`          // how many did so
	Thread   *int      `json:"thread,omitempty"` // which, where it was one
	Rank     *int      `json:"rank,omitempty"`   // and of which rank
}

// Thread is one slot's sum over a section's instances: that of a thread or,
// where threads are created anew for every round, of those that took one place
// in turn.
type Thread struct {
	Slot         int      `json:"slot"`         // from 1, in the order of creation
	ID           *int     `json:"id,omitempty"` // of the thread, in its rank; none where there were several, or it stands for a rank
	Rank         *int     `json:"rank,omitempty"`
	Instructions uint64   `json:"instructions"`
	BusyS        *float64 `json:"busy_s,omitempty"`
	WaitS        *float64 `json:"wait_s,omitempty"`
	// What the kernel and the processor counted of it.
	Hardware *Hardware `json:"hardware,omitempty"`

	uncounted bool // Instructions are not known: see MarshalJSON

	of       profile.ThreadID // among those of all ranks; of several, −1
	eachRank bool             // several: of a place in each rank
}

// Gain is the most that balancing saves.
type Gain struct {
	Seconds    *float64 `json:"seconds,omitempty"`
	Fraction   float64  `json:"fraction"`
	WholeUnits *float64 `json:"whole_units,omitempty"` // the fraction, when work is distributed in whole units
}

// Cause is a line that introduces imbalance.
type Cause struct {
	Rank        int       `json:"rank"`
	Kind        string    `json:"kind"`
	Leader      string    `json:"leader,omitempty"`
	Share       float64   `json:"share"`
	Score       *float64  `json:"score,omitempty"`
	Beta        *float64  `json:"beta,omitempty"`
	LeaderScore *float64  `json:"leader_score,omitempty"`
	P           *float64  `json:"p,omitempty"`
	Gain        *Gain     `json:"gain,omitempty"`
	Location    *Location `json:"location"`
	Within      *Place    `json:"within,omitempty"` // of the language's library, what decides; Location is the program's call that led there
	To          *Place    `json:"to,omitempty"`
	Counts      []uint64  `json:"counts"` // per slot, in the order of the section's threads
	Members     []Member  `json:"members"`
	Path        *Path     `json:"path,omitempty"`
	Waker       *Waker    `json:"waker,omitempty"` // of a cause that is a wait
	// Of a cache miss: which level, "l1d", "l2" or "l3"; why, "cold", "capacity",
	// "conflict" or "coherence", of which "true" or "false" sharing; who takes the
	// line away; how often, as Counts.
	Level   string   `json:"level,omitempty"`
	Miss    string   `json:"miss,omitempty"`
	Sharing string   `json:"sharing,omitempty"`
	Partner *Partner `json:"partner,omitempty"`
	Misses  []uint64 `json:"misses,omitempty"`
	// How much of the section's imbalance would be gone if these misses took no time.
	Erased *float64 `json:"erased,omitempty"`
	// Of the first decision where units are known: these, and what dealing them otherwise brings.
	Units    *CauseUnits    `json:"units,omitempty"`
	Dealings []CauseDealing `json:"dealings,omitempty"`
	// Instructions are those that miss, in the profile's addresses: what Verify is about.
	Instructions []profile.Addr `json:"-"`
	Message      string         `json:"message"`
}

// Partner is whose writes take a line away from those who miss it.
type Partner struct {
	Location
	Thread *int `json:"thread,omitempty"` // none: several
}

// Path is how the thread that met a cause most came there, as far as the counts
// tell: the calls from the inside outwards, inlined ones among them.
type Path struct {
	Thread int     `json:"thread"`
	Rank   *int    `json:"rank,omitempty"`
	Calls  []Place `json:"calls"`
	Start  *Place  `json:"start,omitempty"` // where the thread begins; none where the calls do not lead back to it
}

// Place is a source line, or an address where none is known.
type Place struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Function string `json:"function,omitempty"`
	Offset   string `json:"offset,omitempty"` // from the function's start, where the line is unknown
	Address  string `json:"address,omitempty"`
	Library  string `json:"library,omitempty"` // the file that the address is of, where that is not the program
}

// Location is a place with the calls it was inlined at, from the inside outwards.
type Location struct {
	Place
	InlinedAt []Place `json:"inlined_at,omitempty"`
}

// Member is another event that goes with a cause.
type Member struct {
	Kind string `json:"kind"`
	Place
	Corr *float64 `json:"corr,omitempty"`
}

// Warning is doubt about a result.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}
