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
	SpinS    *float64       `json:"spin_s,omitempty"` // CPU time that was no section's, nor can have been work outside of them: threads spun where they waited
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
	known, n, time, idle, spun := false, float64(len(runs)), 0.0, 0.0, 0.0
	for _, x := range runs {
		time += x.TimeS / n
		spun += x.spun() / n
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
	if spun > littleSpun*float64(p)*time {
		out.SpinS = &spun
	}
	slices.SortStableFunc(out.Kinds, func(a, b KindWaited) int { return cmp.Compare(b.Seconds, a.Seconds) })
	slices.SortStableFunc(out.Lines, func(a, b report.Wait) int { return cmp.Compare(b.Seconds, a.Seconds) })
	out.Lines = out.Lines[:min(len(out.Lines), waitLines)]
	return out
}

// littleSpun is the part of the core time from which on spinning is worth a word.
const littleSpun = 0.03

// spun is for how long threads spun at least: they used so much CPU time while they were
// in no section, and one thread alone cannot have. 0: it is not known.
func (x *Recorded) spun() float64 {
	cpu, wall := x.CPUS, x.TimeS
	if len(x.sections) == 0 {
		return 0
	}
	for i := range x.sections {
		s := &x.sections[i]
		if !s.timed {
			return 0
		}
		if s.key.kind != Outside {
			cpu, wall = cpu-float64(s.slowest.Work), wall-float64(s.run.Wall)
		}
	}
	return max(0, cpu-max(0, wall))
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
