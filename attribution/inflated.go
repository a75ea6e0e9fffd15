package attribution

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// least is the part of all work at P that a line's inflation must be to be worth
// a word.
const least = 0.02

// Samples are how often each line was met in one run, by a clock that ticks with
// the CPU time of its threads.
type Samples[L cmp.Ordered] map[L]int

// Grown is a line whose work is more on P cores than on one.
type Grown[L cmp.Ordered] struct {
	Line      L
	W1, WP    Seconds // its work on one core and on P, as means of runs
	Inflation Seconds
	Low, High Seconds // bootstrap interval of 99 % of the inflation
	Share     float64 // of what all lines together that grew have grown
}

// Inflated are the lines whose work certainly grows from runs on one core to runs
// on P: the interval of the inflation is above zero, and the inflation itself is
// at least 2 % of all work at P. period is the CPU time between two samples. The
// largest inflation comes first.
//
// The interval is of a bootstrap in two steps: draw runs anew, because runs differ,
// then in each run the number of samples, which is Poisson distributed around what
// was counted. It needs two runs of each kind; with fewer nothing is certain.
func Inflated[L cmp.Ordered](at1, atP []Samples[L], period Seconds) []Grown[L] {
	if min(len(at1), len(atP)) < 2 {
		return nil
	}
	lines := map[L]bool{}
	all := 0.0 // at P
	for _, runs := range [][]Samples[L]{at1, atP} {
		for _, r := range runs {
			for l := range r {
				lines[l] = true
			}
		}
	}
	for _, r := range atP {
		for _, n := range r {
			all += float64(n) / float64(len(atP))
		}
	}
	var grown []Grown[L]
	grew := 0.0
	for _, l := range slices.Sorted(maps.Keys(lines)) {
		n1, nP := counts(at1, l), counts(atP, l)
		more := mean(nP) - mean(n1)
		grew += max(0, more)
		if more < least*all {
			continue
		}
		low, high := growth(n1, nP)
		if low <= 0 {
			continue
		}
		grown = append(grown, Grown[L]{Line: l, W1: Seconds(mean(n1)) * period, WP: Seconds(mean(nP)) * period,
			Inflation: Seconds(more) * period, Low: Seconds(low) * period, High: Seconds(high) * period})
	}
	for i := range grown {
		grown[i].Share = float64(grown[i].Inflation/period) / grew
	}
	slices.SortStableFunc(grown, func(a, b Grown[L]) int { return cmp.Compare(b.Inflation, a.Inflation) })
	return grown
}

// Work is what a line takes in each run, as a mean with its spread. period is the CPU
// time between two samples.
func Work[L cmp.Ordered](runs []Samples[L], l L, period Seconds) *Estimate {
	return estimate(runs, func(r Samples[L]) *Seconds {
		s := Seconds(r[l]) * period
		return &s
	})
}

func counts[L cmp.Ordered](runs []Samples[L], l L) []float64 {
	ns := make([]float64, len(runs))
	for i, r := range runs {
		ns[i] = float64(r[l])
	}
	return ns
}

func mean(ns []float64) float64 {
	sum := 0.0
	for _, n := range ns {
		sum += n
	}
	return sum / float64(len(ns))
}

// growth is the interval of the difference of two means of counts.
func growth(n1, nP []float64) (low, high float64) {
	source := rand.NewPCG(seed, uint64(len(n1)))
	rng := rand.New(source)
	again := func(ns []float64) float64 {
		sum := 0.0
		for range ns {
			if n := ns[rng.IntN(len(ns))]; n > 0 {
				sum += distuv.Poisson{Lambda: n, Src: source}.Rand()
			}
		}
		return sum / float64(len(ns))
	}
	xs := make([]float64, draws)
	for i := range xs {
		xs[i] = again(nP) - again(n1)
	}
	return middle(xs)
}
