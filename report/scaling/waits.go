package scaling

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/report"
)

// Waits are what the threads of one more run waited for, which was profiled.
type Waits struct {
	P     int           `json:"p"`
	TimeS *float64      `json:"time_s,omitempty"` // of that run, from begin to end
	Total float64       `json:"total_s"`
	Kinds []KindWaited  `json:"kinds"` // those that took longest first
	Lines []report.Wait `json:"lines"` // likewise
}

// KindWaited is the waits of one kind.
type KindWaited struct {
	Kind    string  `json:"kind"`
	Seconds float64 `json:"seconds"` // all threads together
}

// waitLines are shown at most.
const waitLines = 10

// WaitsOf adds up what the threads of a profiled run on so many cores waited for in
// all sections: for the last one at their ends, and on the way. nil: it was not measured.
func WaitsOf(r *report.Report, p int) *Waits {
	out := &Waits{P: p, TimeS: r.Run.WallS, Kinds: []KindWaited{}, Lines: []report.Wait{}}
	known := false
	for i := range r.Sections {
		for _, w := range r.Sections[i].Waits {
			known = true
			// Where more threads end than there are cores, it is not cores that wait for
			// the last one.
			if w.Kind != "join" || w.Threads <= p {
				out.add(w)
			}
		}
		known = known || r.Sections[i].IdleS != nil
	}
	if !known {
		return nil
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
