package scaling

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/report"
)

// Waits are what the threads of recorded runs waited for, as means of these.
type Waits struct {
	P        int            `json:"p"`
	Runs     int            `json:"runs"`
	TimeS    *float64       `json:"time_s,omitempty"` // of a run, from begin to end
	IdleS    *float64       `json:"idle_s,omitempty"` // core time of these runs that was nobody's
	Total    float64        `json:"total_s"`
	Kinds    []KindWaited   `json:"kinds"`     // those that took longest first
	Lines    []report.Wait  `json:"lines"`     // likewise
	ByThread []ThreadWaited `json:"by_thread"` // likewise
}

// KindWaited is the waits of one kind.
type KindWaited struct {
	Kind    string  `json:"kind"`
	Seconds float64 `json:"seconds"` // all threads together
}

// waitLines are shown at most.
const waitLines = 10

// WaitsOf adds up what the threads of recorded runs on so many cores waited for in all
// sections: for the last one at their ends, and on the way; and how long these cores
// idled. nil: it was not measured.
func WaitsOf(runs []*Recorded, p int) *Waits {
	out := &Waits{P: p, Runs: len(runs), Kinds: []KindWaited{}, Lines: []report.Wait{}}
	known, n, time, idle := false, float64(len(runs)), 0.0, 0.0
	for _, x := range runs {
		time += x.TimeS / n
		idle += (float64(p)*x.TimeS - x.CPUS - x.QueueS) / n
		for i := range x.Report.Sections {
			for _, w := range x.Report.Sections[i].Waits {
				known = true
				// Where more threads end than there are cores, it is not cores that wait for
				// the last one.
				if w.Kind != "join" || w.Threads <= p {
					w.Seconds /= n
					out.add(w)
				}
			}
			known = known || x.Report.Sections[i].IdleS != nil
		}
	}
	if !known {
		return nil
	}
	out.ByThread = byThread(runs)
	if out.TimeS = &time; idle > 0 {
		out.IdleS = &idle
	}
	slices.SortStableFunc(out.Kinds, func(a, b KindWaited) int { return cmp.Compare(b.Seconds, a.Seconds) })
	slices.SortStableFunc(out.Lines, func(a, b report.Wait) int { return cmp.Compare(b.Seconds, a.Seconds) })
	out.Lines = out.Lines[:min(len(out.Lines), waitLines)]
	return out
}

func (o *Waits) add(w report.Wait) {
	o.Total += w.Seconds
	k := slices.IndexFunc(o.Kinds, func(k KindWaited) bool { return k.Kind == w.Kind })
	if k < 0 {
		k, o.Kinds = len(o.Kinds), append(o.Kinds, KindWaited{Kind: w.Kind})
	}
	o.Kinds[k].Seconds += w.Seconds
	for i := range o.Lines {
		if x := &o.Lines[i]; x.Kind == w.Kind && same(x.Location, w.Location) {
			if x.Waker == nil || w.Waker != nil && w.Seconds > x.Seconds { // that of the longer one
				x.Waker = w.Waker
			}
			x.Seconds, x.Threads = x.Seconds+w.Seconds, max(x.Threads, w.Threads)
			return
		}
	}
	o.Lines = append(o.Lines, w)
}

func same(a, b *report.Location) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.File == b.File && a.Line == b.Line && a.Function == b.Function && a.Address == b.Address
}
