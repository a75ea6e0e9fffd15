package words

import (
	"fmt"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report/scaling"
)

// Together says how much of the inflation comes from running at the same time; "" where
// that is not known.
func Together(r *scaling.Report) string {
	t := r.Together
	if t == nil {
		return ""
	}
	whole := max(abs(t.BesideS), abs(t.ThreadsS))
	s := fmt.Sprintf("when the %d threads take turns on one core, work is %s: ", t.P, units.Seconds(t.TurnsS))
	beside := fmt.Sprintf("%s (99 %%: %s to %s) of the inflation comes from running at the same time (caches and memory that they share, lines that they take from each other, spinning)",
		units.SecondsOf(t.BesideS, whole), signedSeconds(t.LowS, whole), units.SecondsOf(t.HighS, whole))
	switch {
	case t.Uncertain:
		return s + fmt.Sprintf("how much of the inflation comes from running at the same time is not certain (99 %%: %s to %s)", signedSeconds(t.LowS, whole), units.SecondsOf(t.HighS, whole))
	case t.ThreadsS > 0.1*t.BesideS:
		return s + beside + fmt.Sprintf("; %s is there without that: more threads have more to do", units.SecondsOf(t.ThreadsS, whole))
	}
	return s + beside
}

func signedSeconds(x, whole float64) string {
	if x < 0 {
		return "−" + units.SecondsOf(-x, whole)
	}
	return units.SecondsOf(x, whole)
}

// byTurns says what a line's work is when threads take turns; "" where that is not known.
func byTurns(l *scaling.Line) string {
	if l.TurnsS == nil {
		return ""
	}
	return fmt.Sprintf("; %s when as many threads take turns on one core", units.SecondsOf(*l.TurnsS, l.WPS))
}

// Caches says what simulated caches explain of the inflation; "" where none were simulated.
func Caches(r *scaling.Report) string {
	c := r.Caches
	if c == nil {
		return ""
	}
	whole := max(c.LinesS, c.SharedS)
	if whole == 0 {
		return "simulated caches miss no more on " + units.Plural(c.P, "core") + " than on one"
	}
	return fmt.Sprintf("simulated caches miss more on %s than on one, modelled: %s for lines that others take away, %s for want of room in the last cache",
		units.Plural(c.P, "core"), units.SecondsOf(c.LinesS, whole), units.SecondsOf(c.SharedS, whole))
}
