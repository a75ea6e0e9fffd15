package native

import (
	"os"

	"github.com/skewlens/skewlens/profiler/internal/kept"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
)

// Counters cost least where the program passes least. The first run guesses where
// that is, by the shape of the code, and knows it when it ends: so the copy is made
// once more then, for the next run. That one cannot do so, as it has no plans; where
// it does far more than the run that the counters stand by, it keeps what ran, and the
// program is analysed once more when it is next run.
//
//	analysis ─▶ run ─▶ what ran ─▶ copy, kept ─▶ runs ─▶ one that does far more ─▶ what ran, kept
//	    ▲                                                                               │
//	    └───────────────────────────────────────────────────────────────────────────────┘
const (
	farMore  = 16      // times as much as the run that the counters stand by,
	muchRuns = 1 << 28 // and so many edges passed at least, are worth another analysis
)

// ranName is where what ran is kept until the program of an analysis is analysed again.
func ranName(name string) string { return name + "-ran" }

// readRan returns what ran, if the program is to be analysed again.
func readRan(name string) relocate.Ran {
	b, err := kept.Read(ranName(name))
	if err != nil {
		return nil
	}
	return relocate.UnpackRan(&pack.Reader{B: b})
}

// keepRan keeps what the next run is better off with. Nobody writes the analysis
// meanwhile.
func (a *analysis) keepRan(v *solve.Solver) {
	if a.keptAs == "" || a.probe.NoCounters || a.probe.Caches.On() {
		a.keepSolved()
		return
	}
	if !a.planned && v.Passed() < muchRuns/2 { // as packed it cannot be twice as many
		a.keepSolved()
		return
	}
	ran := make(relocate.Ran, 0, len(a.spec.Plans()))
	for _, q := range a.spec.Plans() {
		ran = append(ran, v.Ran(q.Number))
	}
	passed, before := ran.Passed(), a.spec.Ran().Passed()
	if a.planned {
		os.Remove(ranName(a.keptAs))
	}
	switch {
	case a.planned && passed > before:
		a.spec.SetRan(ran)
		if c, err := a.spec.Assemble(a.best()); err == nil {
			keep(a.keptAs, a.spec, c)
		}
	case passed > muchRuns && passed > farMore*before:
		kept.Write(ranName(a.keptAs), ran.Pack)
	default:
		a.keepSolved()
	}
}
