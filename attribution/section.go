package attribution

import (
	"maps"
	"slices"
)

// Section computes the points of a part of a program, of which runs are the parts of
// runs. It is compared with itself on one core; where it was not met there, what is
// made by comparing is not known: its inflation, and its speedups.
func Section(in Input) []Point {
	if len(in.Runs[1]) > 0 {
		if s, err := Factor(in); err == nil {
			return s.Points
		}
	}
	var points []Point
	for _, p := range slices.Sorted(maps.Keys(in.Runs)) {
		if len(in.Runs[p]) > 0 {
			points = append(points, measured(p, net(p, p <= in.Cores, in.Runs[p])))
		}
	}
	return points
}

// Slowest is how a section's threads share its core time on P cores (Eklov, Nikoleris,
// Hagersten, A Profiling Method for Analyzing Scalability Bottlenecks on Multicores,
// 6.3): were it for nothing to wait for each other, the section would take as long as the
// thread for which that is longest, t − t_lb.
type Slowest struct {
	Needs   Seconds // t − t_lb of that thread: its work, and its waits for other things than threads
	Threads int
	Work    Seconds // of all of them
	Own     Seconds // their waits for other things than threads: time, files
}

// Idle is idle time divided by why: exactly I_P = Sync + Imbalance + None + Own.
type Idle struct {
	Sync      Seconds // the slowest thread, and the others meanwhile, wait for locks and for each other
	Imbalance Seconds // the others have less to do than the slowest
	None      Seconds // cores have no thread
	Own       Seconds // threads wait for time or for files
}

// Divide divides the idle time of a section that took so long on P cores. It reports
// false where threads were more than cores: what one needs is then not what it would
// have needed with a core of its own.
func (s Slowest) Divide(p int, time Seconds) (i Idle, ok bool) {
	if s.Threads < 1 || s.Threads > p {
		return i, false
	}
	i.Sync = Seconds(p) * (time - s.Needs)
	i.None = Seconds(p-s.Threads) * s.Needs
	i.Own = s.Own
	i.Imbalance = Seconds(s.Threads)*s.Needs - s.Work - s.Own
	return i, true
}
