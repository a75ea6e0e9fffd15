// Package attribution says where the speedup of a parallel program goes: to work
// that one thread would not have, to cores that idle, or to work that takes longer
// because others work beside it. It is pure mathematics over measured runs.
//
//	runs of the baseline, T_s ─┐
//	runs on 1 core, T_1 ───────┼─▶ Factor ─▶ Scaling: times, idle time, work, inflation,
//	runs on P cores, T_P ──────┘              factored speedups, notes in words
//
//	samples of lines on 1 core ─┐
//	samples of lines on P cores ┴▶ Inflated ─▶ lines whose work grows, with intervals
//
// The method is that of U. A. Acar, A. Charguéraud and M. Rainey, Parallel Work
// Inflation, Memory Effects, and their Empirical Analysis; facts and sections that
// comments name are that paper's.
//
// A run has a wall time, the CPU time of its threads, and the time for which its
// threads were ready but had no core. That last one, waiting in a run queue, is
// neither idle time nor work: it is taken off the core time before anything else is
// made of it, so T_P is what the run would have taken without. Idle time is what is
// left of the core time when the CPU time is taken off. The identities of the paper
// then hold exactly, run by run and so for the means.
//
// Spread of a time is the standard deviation over the runs; that of a ratio is an
// interval from a bootstrap, which draws runs anew and computes the ratio of their
// means (section 2.7: ratios are of means, not means of ratios). Five runs give
// narrow intervals, so they are of 99 %. What is not known is nil, never zero.
package attribution

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/skewlens/skewlens/profile"
)

// Seconds is a time.
type Seconds float64

// Run is one run of a program.
type Run struct {
	Wall  Seconds
	CPU   *Seconds // of all its threads and children; nil: not known
	Queue *Seconds // for which its threads were ready but had no core, added up; nil: not known
}

// Input is what was measured.
type Input struct {
	Baseline []Run         // of the sequential program; none: T_1 is the baseline
	Elision  []Run         // of the parallel program with its parallelism taken out (section 2.8); may be none
	Runs     map[int][]Run // of the parallel program by P; 1 must be there
	Cores    int           // that there are: the notes are about no more; 0: not known
}

// Estimate is a mean over runs.
type Estimate struct {
	Mean Seconds
	SD   *Seconds // standard deviation of one run (n−1); nil: there was one run
}

// Ratio is a ratio of means with its bootstrap interval of 99 %.
type Ratio struct {
	Value     float64
	Low, High *float64 // nil: there were too few runs
}

// Speedups are the factored speedups at P cores (section 2.3).
type Speedups struct {
	Linear            float64
	Elision           *Ratio // P·T_s/T_elision (2.8)
	Maximal           *Ratio // P·T_s/T_1
	IdleSpecific      *Ratio // P·T_s/(T_1+I_P)
	InflationSpecific *Ratio // P·T_s/(P·T_P−I_P)
	Actual            *Ratio // T_s/T_P
}

// Point is the program on P cores.
type Point struct {
	P, Runs   int
	Wall      Estimate  // as a clock on the wall has it
	Time      Estimate  // T_P: Wall without Queued/P
	CPU       *Estimate // of all threads
	Queue     *Estimate // for which threads were ready but had no core
	Queued    *Estimate // how much of that was taken off the core time
	Idle      *Estimate // I_P
	Work      *Estimate // W_P (fact 2.1)
	Inflation *Estimate // F_P (fact 2.2)
	Speedup   Speedups
}

// Scaling is where the speedup goes.
type Scaling struct {
	Baseline Estimate // T_s
	Given    bool     // the baseline is a program of its own; otherwise it is T_1
	Elision  *Estimate
	Points   []Point // by P
	Cores    int     // that there are, or as many as the last point has
	Notes    []Note
	Warnings []profile.Warning
}

// At is the point at P; nil: there is none.
func (s *Scaling) At(p int) *Point {
	for i := range s.Points {
		if s.Points[i].P == p {
			return &s.Points[i]
		}
	}
	return nil
}

// Last is the point with the most cores of those that there are.
func (s *Scaling) Last() *Point {
	ps := s.real()
	return &ps[len(ps)-1]
}

// real are the points with a core for each thread; one core there is.
func (s *Scaling) real() []Point {
	n := 1
	for n < len(s.Points) && s.Points[n].P <= s.Cores {
		n++
	}
	return s.Points[:n]
}

// Factor computes the factored speedups. It fails where there is no run on one
// core, with which all is compared.
func Factor(in Input) (*Scaling, error) {
	if len(in.Runs[1]) == 0 {
		return nil, errors.New("no run on one core, with which the others are compared: add P = 1")
	}
	var ps []int
	for p, runs := range in.Runs {
		if p < 1 || len(runs) == 0 {
			return nil, fmt.Errorf("%d runs on %d cores: give at least one, on one core or more", len(runs), p)
		}
		ps = append(ps, p)
	}
	slices.Sort(ps)
	f := factoring{t1: net(1, true, in.Runs[1]), ts: net(1, true, in.Baseline), elision: net(1, true, in.Elision)}
	s := &Scaling{Given: len(in.Baseline) > 0, Cores: in.Cores}
	if s.Cores == 0 {
		s.Cores = ps[len(ps)-1]
	}
	if !s.Given {
		f.ts = f.t1
		s.Warnings = append(s.Warnings, profile.Warning{Code: "no-baseline",
			Message: "speedups are against the program itself on one core, which has the overhead of being parallel: give the best sequential program with --baseline to see that, too"})
	}
	f.shared, f.whole = !s.Given, estimate(f.t1, func(x part) *Seconds { return x.idle }) == nil
	s.Baseline = *estimate(f.ts, time)
	s.Elision = estimate(f.elision, time)
	for _, p := range ps {
		s.Points = append(s.Points, f.point(p, net(p, p <= s.Cores, in.Runs[p])))
	}
	s.Warnings = append(s.Warnings, doubts(s)...)
	s.Notes = notes(s)
	return s, nil
}

// part is a run on P cores taken apart. Unknown numbers are nil.
type part struct {
	p                                  int
	wall, time                         Seconds
	cpu, queue, queued, idle, inflated *Seconds
}

func time(r part) *Seconds { return &r.time }

// slack is how much more CPU time than core time there may be, as a part of the
// latter: clocks are read one after the other.
const slack = 0.01

// net takes runs apart: T_P·P = wall·P − queued = CPU + idle.
//
// Threads wait in run queues because of other programs, or because they are more
// than the cores. In the second case the cores do not idle meanwhile, and nothing may
// be taken off. So at most that is taken off for which the cores were not the
// program's; and where much more was waited than that, idle time is not known, unless
// there was hardly any either way. On cores that are not there nothing idles that
// could be measured.
func net(p int, there bool, runs []Run) []part {
	var parts []part
	for _, r := range runs {
		x := part{p: p, wall: r.Wall, time: r.Wall, cpu: r.CPU, queue: r.Queue}
		core := Seconds(p) * r.Wall
		if !there || r.CPU == nil || *r.CPU > core*(1+slack) { // the last: it did not keep to P cores
			parts = append(parts, x)
			continue
		}
		room := max(0, core-*r.CPU)
		queued := min(known(r.Queue), room)
		if known(r.Queue)-room <= disturbed*core || room <= disturbed*core {
			idle := room - queued
			x.queued, x.idle = &queued, &idle
			x.time -= queued / Seconds(p)
		}
		parts = append(parts, x)
	}
	return parts
}

// work is W_P = P·T_P − I_P (fact 2.1), which is the CPU time where that is known.
func (x part) work() *Seconds {
	switch {
	case x.idle != nil:
		w := Seconds(x.p)*x.time - *x.idle
		return &w
	case x.cpu != nil && *x.cpu <= Seconds(x.p)*x.wall*(1+slack):
		return x.cpu
	}
	return nil
}

// estimate is nil where a run is without the number.
func estimate[T any](parts []T, of func(T) *Seconds) *Estimate {
	if len(parts) == 0 {
		return nil
	}
	xs := make([]float64, len(parts))
	for i, x := range parts {
		v := of(x)
		if v == nil {
			return nil
		}
		xs[i] = float64(*v)
	}
	mean, sd := stat.MeanStdDev(xs, nil)
	e := &Estimate{Mean: Seconds(mean)}
	if len(xs) > 1 {
		s := Seconds(sd)
		e.SD = &s
	}
	return e
}
