package attribution

import (
	"cmp"
	"maps"
	"slices"
)

// Lone is a line that ran while nothing else of the program did.
type Lone[L cmp.Ordered] struct {
	Line      L
	Alone     Seconds // mean of runs
	Low, High Seconds // bootstrap interval of 99 %
}

// Serial are the lines that certainly ran alone, for at least 2 % of the time that the
// program takes: on P cores P − 1 of them were idle meanwhile, so it is there that I_P
// of "Parallel Work Inflation, Memory Effects, and their Empirical Analysis", section
// 2.2, comes from, as far as it is not from threads that wait for each other. alone are
// the samples of each run that were of the only thread that ran, time is T_P, period
// the CPU time between two samples, queue for how long threads were ready and had no
// core: for as long a line may only seem to have been alone. The line that ran alone for
// longest comes first.
func Serial[L cmp.Ordered](alone []Samples[L], time, queue, period Seconds) (out []Lone[L]) {
	if len(alone) < 2 {
		return nil
	}
	lines := map[L]bool{}
	for _, r := range alone {
		for l := range r {
			lines[l] = true
		}
	}
	none := make([]float64, len(alone))
	for _, l := range slices.Sorted(maps.Keys(lines)) {
		n := counts(alone, l)
		if Seconds(mean(n))*period < max(least*time, 2*queue) {
			continue
		}
		if low, high := growth(none, n); low > 0 {
			out = append(out, Lone[L]{l, Seconds(mean(n)) * period, Seconds(low) * period, Seconds(high) * period})
		}
	}
	slices.SortStableFunc(out, func(a, b Lone[L]) int { return cmp.Compare(b.Alone, a.Alone) })
	return out
}
