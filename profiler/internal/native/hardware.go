package native

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/perf"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// hardware is what the kernel and the processor count of each thread; nil where nobody asked.
type hardware struct {
	set      *perf.Set
	in       *injection
	solver   *solve.Solver
	counters []int32          // of the set's, among the solver's
	places   map[uint64]int32 // of misses, by where they were sampled; −1: no code that was moved
	failed   error            // why a thread was not counted
	lost     bool             // something was, so that sums would be wrong
	scaled   bool
}

// openHardware tries what can be counted.
func openHardware(in *injection, solver *solve.Solver) (*hardware, error) {
	if in.golang != nil {
		return nil, fmt.Errorf("%s is in Go: what the processor counts of its threads is not known of goroutines; use --events edges", in.modules[0].im.Path)
	}
	set, err := perf.Find()
	if err != nil {
		return nil, err
	}
	h := &hardware{set: set, in: in, solver: solver, places: map[uint64]int32{}}
	for _, c := range set.Counters {
		h.counters = append(h.counters, solver.Hardware(c.Name, 0))
	}
	return h, nil
}

// join begins to count a thread that is stopped before its first instruction.
func (h *hardware) join(t *thread) {
	if h == nil {
		return
	}
	var err error
	if t.counted, err = h.set.Open(t.tid, t.area.RecordedAt()); err != nil && h.failed == nil {
		h.failed = err
	}
}

// until is what was counted up to a record that is there, in the order of the records.
func (h *hardware) until(t *thread) {
	if h == nil || t.counted == nil {
		return
	}
	c, ok := t.counted.Next()
	h.add(t, &c, ok)
}

// since takes what was counted since it was asked last, or up to the last record.
func (t *thread) since() (d []record.Delta) {
	d, t.grown = t.grown, nil
	return d
}

// end takes what was counted since the last record of a thread that is gone, and in all.
func (h *hardware) end(t *thread) (rest, all []record.Delta) {
	if h == nil || t.counted == nil {
		return nil, nil
	}
	c, ok := t.counted.End()
	h.add(t, &c, ok)
	t.counted.Close()
	t.counted = nil
	return t.since(), t.grownAll
}

func (h *hardware) add(t *thread, c *perf.Counted, ok bool) {
	if !ok {
		h.lost = true
		return
	}
	var d []record.Delta
	for i, n := range c.N {
		if n > 0 {
			d = append(d, record.Delta{Counter: h.counters[i], N: n})
		}
	}
	for pc, n := range c.Misses {
		if k := h.place(pc); k >= 0 {
			d = append(d, record.Delta{Counter: k, N: uint64(n) * perf.MissPeriod})
		}
	}
	d = record.Merge(d)
	t.grown, t.grownAll = record.Add(t.grown, d), record.Add(t.grownAll, d)
	h.scaled = h.scaled || c.Scaled
}

// place is the counter of misses at an instruction.
func (h *hardware) place(pc uint64) int32 {
	k, known := h.places[pc]
	if !known {
		k = -1
		if a, counted := h.in.addr(h.in.original(pc, true)); counted {
			k = h.solver.Hardware(profile.CacheMiss, a)
		}
		h.places[pc] = k
	}
	return k
}

// settle takes back what is not known of all threads: sums would be wrong.
func (h *hardware) settle() {
	if h != nil && (h.lost || h.failed != nil) {
		h.solver.NoHardware()
	}
}

// doubts says what is not known, or not counted all the time.
func (h *hardware) doubts() (list []profile.Warning) {
	if h == nil {
		return nil
	}
	switch {
	case h.failed != nil:
		list = append(list, profile.Warning{Code: "hardware", Message: h.failed.Error() + ": nothing of the kernel's and the processor's counters is known; raise ulimit -n and ulimit -l"})
	case h.lost:
		list = append(list, profile.Warning{Code: "hardware", Message: "counters had no hardware where threads met, or threads met too often to keep what they had counted: nothing of the kernel's and the processor's counters is known; give others' counters back, as by sysctl kernel.nmi_watchdog=0"})
	case h.scaled:
		list = append(list, profile.Warning{Code: "multiplexed", Message: "others used the processor's counters as well: what was counted part of the time is scaled to all of it, and an estimate; give theirs back, as by sysctl kernel.nmi_watchdog=0"})
	}
	var missing []string
	for _, m := range h.set.Missing {
		missing = append(missing, m.String())
	}
	if len(missing) > 0 {
		list = append(list, profile.Warning{Code: "not-counted", Message: "not counted: " + strings.Join(missing, "; ")})
	}
	return list
}

// closeCounters lets go of those of threads that are not seen to end: another program has
// taken their place.
func (ts *threads) closeCounters() {
	for _, t := range ts.all {
		if t.living != nil && t.counted != nil {
			t.counted.Close()
			t.counted = nil
		}
	}
}
