package profile

import (
	"cmp"
	"slices"
)

// SectionKind says what ends a section.
type SectionKind string

const (
	Barrier    SectionKind = "barrier"
	Join       SectionKind = "join"
	OpenMP     SectionKind = "omp"
	Goroutines SectionKind = "goroutines"
	Threads    SectionKind = "threads" // nothing found: the threads' whole lives
	MPI        SectionKind = "mpi"     // the ranks of a program on several machines: parts are theirs
)

// Section is a static parallel region, named by the place that ends it.
type Section struct {
	Kind SectionKind
	Site Addr // the call (of pthread_barrier_wait, or of what leads to it) that ends it; 0 for Threads
	// Outside is how many of the site's frames (Location.Frames), from the
	// inside outwards, it stands outside of: it is where they were inlined.
	Outside int
	// Callers are the calls that lead to the site, from the inside outwards, as
	// far as they are known and the same for all who meet.
	Callers []Addr
	// Instances in order of time. The oldest may have been folded into one
	// (Instance.Folded > 1) so that memory stays bounded.
	Instances []Instance
	// Totals are the counts of each slot over all instances, folded ones
	// included (of each thread where no slots are known); present only where
	// some were folded, else add up the parts.
	Totals []Part
	// TimeNS is how long any of its instances lasted: the union of their spans,
	// which may overlap. Present only where some were folded, else see Time.
	TimeNS   int64
	Units    *Units // nil: not known
	Warnings []Warning
}

// Instance is one dynamic execution of a section.
type Instance struct {
	Parts []Part // sorted by Thread; in a folded instance by rank, see Folded
	// Folded is how many executions this instance stands for; 1 normally.
	// With more, Parts[i] is the sum over them of the part whose
	// instructions were the i-th fewest: LIME does not care who a thread
	// is, so Σ max T and Σ (max T − T) are kept exactly, which a sum by
	// thread would cancel. Part.Thread then is only a rank.
	Folded int
	// Waiter is the thread that let the others work and waited until they had
	// (a pool's dispatcher, rule 22; who waits for a group of goroutines), counted from 1;
	// 0: there was none.
	Waiter ThreadID
	// SpanNS is from the first part's begin to the last arrival, summed where folded.
	SpanNS int64
	Call   MPICall // of sections of kind MPI
}

// Part is what one thread did in an instance.
type Part struct {
	Thread ThreadID
	// Slot is the thread's place in the instance, from 1: of threads that are
	// created anew for every round, the k-th has the slot of the k-th of the
	// round before. All unfolded parts of a section have one, or none: then each
	// thread is a slot of its own.
	Slot SlotID
	// Several threads had the slot of this sum (Totals, PartsBySlot); Thread is
	// then the first of them.
	Several bool
	Begin   Addr // where it began: the call it came from, or its start function
	Site    Addr // the call at which it arrived; compilers duplicate call sites, so it may differ from the section's
	Counts  Counts
	BusyNS  int64 // of CPU time, when Timed
	WaitNS  int64 // from its arrival to the last one, when Timed
	Timed   bool
	// BeginNS and ArriveNS are when it began and arrived, since the start of
	// the run; both 0 where unknown, and in folded instances.
	BeginNS, ArriveNS int64
	// Waits are those between the two, for each kind and call, as SumWaits gives
	// them: for locks, for a disk … WaitNS is not among them.
	Waits []Wait
	// Wakes are who ended them, as far as that is known, as SumWakes gives them.
	Wakes []Wake
	// Syncs are the waits that another thread has ended one by one, in order of time,
	// as far as they are kept; none in folded instances and sums.
	Syncs []Sync

	// Messages are its waits for other ranks, which are among Waits, too.
	Messages []Message

	// Inner is what it waited for that was its own doing: of each group of
	// threads that it created and joined on the way, the counts of the one that
	// executed most; InnerBusyNS is their CPU time. They are parts of sections of
	// their own; see Whole.
	Inner       Counts
	InnerBusyNS int64
}

// Whole is the part with its Inner: all that had to be done, one after the
// other, until its thread could arrive. A thread that has others do its work is
// as late as if it did it.
func (q *Part) Whole() Part {
	w := *q
	if len(q.Inner.Event) > 0 {
		w.Counts, w.BusyNS = q.Counts.Plus(q.Inner), q.BusyNS+q.InnerBusyNS
		w.Inner, w.InnerBusyNS = Counts{}, 0
	}
	return w
}

// Unfolded are the instances that stand for one execution each, in order of
// time; folded is how many executions the others, which came first, stand for.
func (s *Section) Unfolded() (instances []*Instance, folded int) {
	for i := range s.Instances {
		if in := &s.Instances[i]; in.Folded > 1 {
			folded += in.Folded
		} else {
			instances = append(instances, in)
		}
	}
	return instances, folded
}

// Time is how long any of the section's instances lasted. Where their spans
// overlap (subgroups, forks inside forks) that is less than their sum.
func (s *Section) Time() int64 {
	if s.TimeNS > 0 {
		return s.TimeNS
	}
	type span struct{ from, to int64 }
	var spans []span
	sum := int64(0)
	for i := range s.Instances {
		in := &s.Instances[i]
		sum += in.SpanNS
		if in.Folded <= 1 && in.Placed() && len(in.Parts) > 0 {
			x := span{in.Parts[0].BeginNS, in.Parts[0].ArriveNS}
			for k := range in.Parts {
				x.from, x.to = min(x.from, in.Parts[k].BeginNS), max(x.to, in.Parts[k].ArriveNS)
			}
			spans = append(spans, x)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	until := int64(0)
	for _, x := range spans {
		sum -= max(0, min(x.to, until)-x.from)
		until = max(until, x.to)
	}
	return max(0, sum)
}

// Placed reports whether every part says when it began and arrived.
func (in *Instance) Placed() bool {
	for i := range in.Parts {
		if q := &in.Parts[i]; q.ArriveNS <= 0 || q.BeginNS > q.ArriveNS {
			return false
		}
	}
	return true
}
