package attribution

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
)

// Together is inflation divided by whether it is there, too, when the threads do not run
// beside each other: F_P = Threads + Beside. It is what 6.1 of Eklov, Nikoleris and
// Hagersten, A Profiling Method for Analyzing Scalability Bottlenecks on Multicores, has
// each thread run alone for: nobody else then uses up caches and the way to memory, takes
// lines away or holds a lock.
type Together struct {
	P         int
	Turns     Estimate // work of P threads that take turns on one core
	Threads   Seconds  // more work than one thread has
	Beside    Seconds  // more work since others run at the same time
	Low, High Seconds  // of Beside: bootstrap interval of 99 %
}

// Divide divides the inflation on P cores by runs in which as many threads took turns on
// one core, and runs of one thread that alternated with them, so that what changes slowly
// on the machine touches both alike. nil: it cannot be told, because work is not known,
// there are too few runs, or threads work more when they take turns than beside each
// other: then they spin while they wait.
func (in *Input) Divide(p int, turns, one []Run) *Together {
	many, first := works(p, in.Runs[p]), works(1, in.Runs[1])
	a, b := works(1, turns), works(1, one)
	if min(len(many), len(first), len(a), len(b)) < 2 {
		return nil
	}
	threads := func(again func([]float64) float64) float64 { return again(a) - again(b) }
	beside := func(again func([]float64) float64) float64 { return again(many) - again(first) - threads(again) }
	average := func(xs []float64) float64 { return stat.Mean(xs, nil) }
	t := &Together{P: p, Turns: *estimate(net(1, true, turns), part.work), Threads: Seconds(threads(average)), Beside: Seconds(beside(average))}
	rng := rand.New(rand.NewPCG(seed, uint64(p)))
	ds := make([]float64, draws)
	for i := range ds {
		ds[i] = beside(func(xs []float64) (sum float64) {
			for range xs {
				sum += xs[rng.IntN(len(xs))] / float64(len(xs))
			}
			return sum
		})
	}
	low, high := middle(ds)
	if t.Low, t.High = Seconds(low), Seconds(high); t.High < 0 {
		return nil
	}
	return t
}

// works is the work of runs; nil where it is not known of one.
func works(p int, runs []Run) (out []float64) {
	for _, x := range net(p, true, runs) {
		w := x.work()
		if w == nil {
			return nil
		}
		out = append(out, float64(*w))
	}
	return out
}
