package profile

import "sort"

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
	Site Addr // the call (of pthread_barrier_wait …) that ends it; 0 for Threads
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

// Counts is a sparse vector over events: how often each happened. Events that
// are not in it happened zero times.
type Counts struct {
	Event []EventID // strictly increasing
	N     []uint64  // same length, none zero
}

// Of returns the count of one event.
func (c Counts) Of(e EventID) uint64 {
	i := sort.Search(len(c.Event), func(i int) bool { return c.Event[i] >= e })
	if i < len(c.Event) && c.Event[i] == e {
		return c.N[i]
	}
	return 0
}

// Plus returns the sum of two vectors.
func (c Counts) Plus(d Counts) Counts {
	s := Counts{make([]EventID, 0, max(len(c.Event), len(d.Event))), make([]uint64, 0, max(len(c.N), len(d.N)))}
	i, j := 0, 0
	for i < len(c.Event) || j < len(d.Event) {
		switch {
		case j == len(d.Event) || i < len(c.Event) && c.Event[i] < d.Event[j]:
			s.Event, s.N = append(s.Event, c.Event[i]), append(s.N, c.N[i])
			i++
		case i == len(c.Event) || d.Event[j] < c.Event[i]:
			s.Event, s.N = append(s.Event, d.Event[j]), append(s.N, d.N[j])
			j++
		default:
			s.Event, s.N = append(s.Event, c.Event[i]), append(s.N, c.N[i]+d.N[j])
			i, j = i+1, j+1
		}
	}
	return s
}

// Instructions is the part's executed instructions in the counted blocks,
// Σ block's instructions × its count: the default response T (docs/method.md,
// rule 1). Spinning is left out, since it measures waiting.
func (p *Profile) Instructions(c Counts) uint64 {
	n := uint64(0)
	for i, e := range c.Event {
		ev := &p.Events[e]
		if ev.Kind != BlockEntered {
			continue
		}
		if b := &p.Graph.Blocks[ev.Block]; !b.Spin {
			n += uint64(b.Instructions) * c.N[i]
		}
	}
	return n
}
