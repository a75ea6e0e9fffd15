package words

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report/scaling"
)

// Foreseen says what speedup a profiled run's tasks allow, why the measured one is
// another, and what more threads would bring; nil where that is not known.
func Foreseen(r *scaling.Report) (list []string) {
	f := r.Forecast
	if f == nil {
		return nil
	}
	first := &f.Points[0]
	list = append(list, fmt.Sprintf("forecast for %s: a speedup of up to %s, from the tasks of a profiled run: %s of work, a critical path of %s",
		units.Plural(first.P, "core"), units.Digits(first.Speedup), units.Seconds(f.WorkS), units.SecondsOf(f.PathS, f.WorkS)))
	if p := f.Part; p != nil {
		list = append(list, parts(p))
	}
	var more []string
	limited := 0
	for _, x := range f.Points[1:] {
		s := fmt.Sprintf("%s on %d", units.Digits(x.Speedup), x.P)
		if x.Best != nil && *x.Best > 1.01*x.Speedup {
			s += fmt.Sprintf(" (dealt best: %s)", units.Digits(*x.Best))
		}
		if more = append(more, s); x.Limited && limited == 0 {
			limited = x.P
		}
	}
	if len(more) > 0 {
		s := "with as many threads, the units of work dealt out as they are, it would be up to " + strings.Join(more, ", ")
		if limited > 0 {
			s += fmt.Sprintf("; from %d on the largest unit limits", limited)
		}
		list = append(list, s)
	}
	return list
}

// parts says why measured and forecast speedup are apart.
func parts(p *scaling.Parting) string {
	s := fmt.Sprintf("on %s %s was measured, %s foreseen", units.Plural(p.P, "core"), units.Digits(p.Measured), units.Digits(p.Forecast))
	if p.Within {
		return s + ": no more apart than the runs are"
	}
	s += fmt.Sprintf(", %s of core time %s: ", units.Seconds(abs(p.CoreS)), map[bool]string{true: "more", false: "less"}[p.CoreS > 0])
	work := fmt.Sprintf("work takes %s longer (memory, caches, spinning), which no forecast of this kind can see", units.Seconds(abs(p.InflationS)))
	if p.InflationS < 0 {
		work = fmt.Sprintf("work takes %s less time", units.Seconds(abs(p.InflationS)))
	}
	idle := fmt.Sprintf("cores idle %s more (wake-ups, threads that begin and end, the system)", units.Seconds(abs(p.IdleS)))
	if p.IdleS < 0 {
		idle = fmt.Sprintf("cores idle %s less than in the profiled run", units.Seconds(abs(p.IdleS)))
	}
	return s + work + "; " + idle
}

func abs(x float64) float64 { return max(x, -x) }
