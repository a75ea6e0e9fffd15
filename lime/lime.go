package lime

import "github.com/skewlens/skewlens/profile"

// Method chooses the rules.
type Method string

const (
	Exact Method = "exact" // the paper's rules, repaired where exact counts showed them to fail
	Paper Method = "paper" // the paper's own rules, for comparison with its tables
)

// Options tune the analysis; the zero value means the defaults.
type Options struct {
	Method   Method           // default Exact
	Response profile.Response // default profile.Instructions
	Stop     float64          // clustering ends below this correlation; default 0.98 for exact counts, 0.9 for measured responses and the paper's method
	Bulk     float64          // merge at or above this correlation first (3.2, "bulk clustering"); 0: off
}

// Result is the analysis of one section over all its instances.
type Result struct {
	Response  profile.Response
	Instances int     // executions, folded ones included
	Imbalance float64 // Σ (Tmax − T) / Σ P·Tmax over instances and threads, in [0, 1]
	Balanced  bool    // imbalance below 1 %: no causes are named
	R2        float64 // how much of T's variance the causes account for; NaN: no causes
	JointGain float64 // all causes evened: fraction of Σ max T; NaN: unknown
	Threads   []ThreadTotal
	Causes    []Cause // ranked by share
	Warnings  []profile.Warning
}

// ThreadTotal is one thread's sum over the instances.
type ThreadTotal struct {
	Thread       profile.ThreadID
	Instructions uint64
	BusyNS       int64
	WaitNS       int64
	Timed        bool
}

// LeaderKind says what kind of decision introduces the difference.
type LeaderKind string

const (
	Branch    LeaderKind = "branch"
	Loop      LeaderKind = "loop"
	Recursion LeaderKind = "recursion"
	StartAt   LeaderKind = "start" // threads begin the section at different code
)

// Cause is one ranked cause of a section's imbalance.
type Cause struct {
	Kind        string     // "control-flow", or the hardware event's name
	Leader      LeaderKind // empty for hardware events
	Share       float64    // of the variation of T between threads, [0, 1]
	Score       float64    // equation 2, or β for hardware events
	Beta        float64
	LeaderScore float64      // equation 1; NaN for hardware events
	P           float64      // of the F test; NaN when nothing was fitted
	Gain        float64      // upper bound, fraction of Σ max T
	WholeUnits  float64      // the same when work is dealt in whole units
	Addr        profile.Addr // the deciding instruction
	To          profile.Addr // where the event's edge leads; 0: unknown
	Counts      []uint64     // of the event, per thread in the order of Result.Threads
	Members     []Member     // the other events of the cluster, most work first
}

// Member is another event of a cause's cluster.
type Member struct {
	Kind string // "control-flow", or the hardware event's name
	Addr profile.Addr
	Corr float64 // with the cluster's centroid
}
