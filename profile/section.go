package profile

// SectionKind says what ends a section.
type SectionKind string

const (
	Barrier    SectionKind = "barrier"
	Join       SectionKind = "join"
	OpenMP     SectionKind = "omp"
	Goroutines SectionKind = "goroutines"
	Threads    SectionKind = "threads" // nothing found: the threads' whole lives
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
	// Totals are the counts of each thread over all instances, folded ones
	// included; present only where some were folded, else add up the parts.
	Totals   []Part
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
	// SpanNS is from the first part's begin to the last arrival, summed where folded.
	SpanNS int64
}

// Part is what one thread did in an instance.
type Part struct {
	Thread ThreadID
	Begin  Addr // where it began: the call it came from, or its start function
	Site   Addr // the call at which it arrived; compilers duplicate call sites, so it may differ from the section's
	Counts Counts
	BusyNS int64 // of CPU time, when Timed
	WaitNS int64 // from its arrival to the last one, when Timed
	Timed  bool
	// BeginNS and ArriveNS are when it began and arrived, since the start of
	// the run; both 0 where unknown, and in folded instances.
	BeginNS, ArriveNS int64
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

// Placed reports whether every part says when it began and arrived.
func (in *Instance) Placed() bool {
	for i := range in.Parts {
		if q := &in.Parts[i]; q.ArriveNS <= 0 || q.BeginNS > q.ArriveNS {
			return false
		}
	}
	return true
}
