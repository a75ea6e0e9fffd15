package scaling

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// Component is a part of the core time at a point: the speedup stack (rule 29).
type Component struct {
	Name    string  `json:"name"`    // speedup, overhead, inflation, idle, or what idle time was for: idle-lock …, idle-none
	CoreS   float64 `json:"core_s"`  // below 0: less than on one core
	Speedup float64 `json:"speedup"` // in units of the speedup: all components make P together
	How     string  `json:"how"`     // it was obtained
}

// What the components are, in words.
const (
	howSpeedup   = "the baseline's time, as measured"
	howOverhead  = "the program's time on one core less the baseline's, as measured"
	howInflation = "CPU time on these cores less on one, as measured: caches, memory and spinning together"
	howIdle      = "core time without a thread that runs, as measured"
	howDivided   = "idle time as measured, divided as threads waited in recorded runs: an estimate, since these are other runs"
	howNone      = "likewise: nothing was waited for there, so there was no thread for the core"
)

// stack divides the core time of each point. It adds up exactly: P·T_P is the
// baseline's time, the overhead, the inflation and the idle time (rule 26).
func (r *Report) stack() {
	one := r.at(1)
	for i := range r.Points {
		p := &r.Points[i]
		if p.IdleS == nil || p.InflationS == nil || one == nil || p.TimeS <= 0 || p.Oversubscribed {
			continue
		}
		p.Stack = []Component{{"speedup", r.BaselineS, 0, howSpeedup}, {"overhead", one.TimeS - r.BaselineS, 0, howOverhead},
			{"inflation", *p.InflationS, 0, howInflation}, {"idle", *p.IdleS, 0, howIdle}}
		if r.Baseline == "" { // it is the program on one core: there is none by definition
			p.Stack = slices.Delete(p.Stack, 1, 2)
		}
		heights(p.Stack, p.P)
	}
}

// heights gives each component its height, so that all are as high as P.
func heights(stack []Component, p int) {
	sum := 0.0
	for _, c := range stack {
		sum += c.CoreS
	}
	for i := range stack {
		if sum > 0 {
			stack[i].Speedup = stack[i].CoreS / sum * float64(p)
		}
	}
}

// DivideIdle divides the idle time of the point that runs were recorded for by what
// threads waited for in these, as their cores idled.
func (r *Report) DivideIdle() {
	w := r.Waits
	if w == nil || w.IdleS == nil {
		return
	}
	p := r.at(w.P)
	k := slices.IndexFunc(p.Stack, func(c Component) bool { return c.Name == "idle" })
	waited := 0.0
	for _, x := range w.Kinds {
		if x.Kind != string(profile.WaitFault) { // for memory the kernel works, and that is no idle time
			waited += x.Seconds
		}
	}
	all := max(*w.IdleS, waited)
	if k < 0 || all <= 0 || *p.IdleS <= 0 {
		return
	}
	p.Stack = p.Stack[:k] // idle time is the last
	for _, x := range w.Kinds {
		if x.Kind == string(profile.WaitFault) {
			continue
		}
		p.Stack = append(p.Stack, Component{"idle-" + x.Kind, *p.IdleS * x.Seconds / all, 0, howDivided})
	}
	if left := all - waited; left > 0 {
		p.Stack = append(p.Stack, Component{"idle-none", *p.IdleS * left / all, 0, howNone})
	}
	heights(p.Stack, p.P)
}
