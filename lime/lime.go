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
	Stop     float64          // clustering ends below this correlation, in (0, 1]; default 0.98 for exact counts, 0.9 for measured responses and the paper's method
	Bulk     float64          // merge at or above this correlation first (3.2, "bulk clustering"), in [Stop, 1]; 0: off
}

// Result is the analysis of one section over all its instances.
type Result struct {
	Response  profile.Response
	Instances int     // executions, folded ones included
	Imbalance float64 // Σ (Tmax − T) / Σ P·Tmax over instances and threads, in [0, 1]
	Balanced  bool    // imbalance below 1 %: no causes are named
	R2        float64 // how much of T's variance is accounted for, in [0, 1], weighted by lost time; NaN: no causes
	JointGain float64 // all causes evened: fraction of Σ max T; NaN: unknown
	Threads   []ThreadTotal
	Causes    []Cause // ranked by share
	Warnings  []profile.Warning
	// Moved is by how much the parts' T changes when the first cause is evened out,
	// mean K − K, by instance of the section and part. A row is nil where nothing
	// changes; all is where that is not known.
	Moved [][]float64

	selfScheduled bool // threads take their work themselves
	decidedBefore bool // where a part begins explains what it does
	ranked        ranking
}

// ThreadTotal is one slot's sum over the instances: a thread's, or that of the
// threads that took its place in turn.
type ThreadTotal struct {
	Thread       profile.ThreadID // the first, where there are several
	Slot         profile.SlotID   // from 1; 0: not known, each thread is a slot
	Several      bool
	Instructions uint64
	BusyNS       int64
	WaitNS       int64
	Timed        bool // all its parts were
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
//
// T is the response of a thread, K what the cause costs it: the instructions
// that the decision steers (in a measured response, at the section's time for
// an instruction). Share and Score are means over the instances weighted by
// the thread-time that each lost, an instance without the cause counting as
// 0; Beta and LeaderScore are means over those that have it.
type Cause struct {
	Kind        string     // "control-flow", or the hardware event's name
	Leader      LeaderKind // empty for hardware events
	Share       float64    // cov(K, T) / var T, kept in [0, 1]; by the paper's method the score, kept there
	Score       float64    // equation 2, Beta × LeaderScore; Beta for hardware events
	Beta        float64    // σ_K/σ_T, or the regression's standardised coefficient
	LeaderScore float64    // equation 1, in-edges as their sum; NaN for hardware events
	P           float64    // of the F test, in the instance that lost most; NaN when nothing was fitted
	// Gain is Σ max T − Σ max(T − K + mean K) as a fraction of Σ max T: what
	// evening the cause out would save, if nothing stands in the way. 0 for
	// a cause that another one makes up for; NaN by the paper's method.
	Gain float64
	// WholeUnits is the same when the work is scheduled anew, in units of
	// ΣK / executions, each to the least-loaded thread: 0 for one piece of
	// work on one thread. At most Gain: that units can also fill gaps that other
	// causes left is not this one's gain. NaN for hardware events, START causes
	// and by the paper's method.
	WholeUnits float64
	Addr       profile.Addr    // the deciding instruction
	Event      profile.EventID // of a hardware cause: that which costs most; else 0
	// Erased is how much of the section's lost time would be gone if none of the
	// line's misses took any time (5.4), as a fraction; below 0 where that would
	// lose more. 0 of all but misses.
	Erased  float64
	Missing []profile.Addr // of misses: the instructions of the line that miss, ascending
	To      profile.Addr   // where the event's edge leads, of a recursion the call; 0: unknown
	Counts  []uint64       // of the event, per slot in the order of Result.Threads
	Members []Member       // the other events of the cluster, most work first, 50 at most
}

// Member is another event of a cause's cluster.
type Member struct {
	Kind string // "control-flow", or the hardware event's name
	Addr profile.Addr
	Corr float64 // with the cluster's centroid
}
