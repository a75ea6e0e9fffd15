package scaling

import (
	"slices"

	"github.com/skewlens/skewlens/attribution"
)

// Together is inflation at a point divided by whether it is there, too, when the threads
// take turns on one core (rule 29).
type Together struct {
	P         int      `json:"p"`
	Runs      int      `json:"runs"`
	TurnsS    float64  `json:"turns_s"` // work of P threads that take turns on one core
	TurnsSD   *float64 `json:"turns_sd,omitempty"`
	BesideS   float64  `json:"beside_s"`  // inflation because others run at the same time
	LowS      float64  `json:"low_s"`     // of an interval of 99 %
	HighS     float64  `json:"high_s"`    //
	ThreadsS  float64  `json:"threads_s"` // inflation that is there without that
	Uncertain bool     `json:"uncertain"` // the interval holds 0: they may be one
}

const (
	howBeside  = "CPU time on these cores less that of as many threads by turns on one core, as measured: caches and memory that are shared, lines that others take away, spinning"
	howThreads = "inflation less that: more threads have more to do, or touch more than a core's caches hold"
)

// DivideInflation adds how the inflation at a point is divided; turns is how many runs say so.
func (r *Report) DivideInflation(t *attribution.Together, turns int) {
	at := r.at(t.P)
	if at == nil {
		return
	}
	r.Together = &Together{P: t.P, Runs: turns, TurnsS: float64(t.Turns.Mean), TurnsSD: seconds(t.Turns.SD), BesideS: float64(t.Beside),
		LowS: float64(t.Low), HighS: float64(t.High), ThreadsS: float64(t.Threads), Uncertain: t.Low <= 0}
	if k := slices.IndexFunc(at.Stack, func(c Component) bool { return c.Name == "inflation" }); k >= 0 {
		at.Stack = slices.Replace(at.Stack, k, k+1,
			Component{"inflation-threads", float64(t.Threads), 0, howThreads}, Component{"inflation-beside", float64(t.Beside), 0, howBeside})
		heights(at.Stack, at.P)
	}
}
