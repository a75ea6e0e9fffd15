package cli

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/skewlens/skewlens/attribution"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// inflates reports whether work at a point certainly inflates so much that it is worth
// asking why.
func inflates(p *scaling.Point) bool {
	if p.InflationS == nil || *p.InflationS < worthIt*float64(p.P)*p.TimeS {
		return false
	}
	return p.InflationSD == nil || *p.InflationS > certain**p.InflationSD/math.Sqrt(float64(p.Runs))
}

// turnsLimit is how long it may take at most when threads take turns: each of them gets
// all the time that they have on cores of their own, four times.
func turnsLimit(r *scaling.Report, p *scaling.Point) time.Duration {
	s := 4 * (float64(p.P)*p.WallS + r.Points[0].WallS)
	return time.Second + time.Duration(s*float64(time.Second))
}

// certain is how many standard deviations of a mean it must be above zero.
const certain = 3

// turns times the program with its threads by turns on one core, where work inflates, and
// divides the inflation by whether it is there then, too. Nothing else depends on it.
func (s *scaleStudy) turns(ctx context.Context, run func(context.Context, profiler.ScaleConfig) (*profiler.ScaleRuns, error), c *profiler.ScaleConfig, r *scaling.Report) {
	p := lastReal(r)
	if s.o.noTurns || p == nil || !inflates(p) {
		return
	}
	config := *c
	config.Baseline, config.Elision = nil, nil
	config.Threads, config.Turns = []int{1}, []int{p.P}
	config.Warmup, config.TurnsLimit = min(1, config.Warmup), turnsLimit(r, p)
	runs, err := run(ctx, config)
	why := "the runs do not tell: threads spin while they wait for each other, or there are too few"
	if err != nil {
		s.stopped = !errors.Is(err, profiler.ErrTurns)
		s.spins = !s.stopped
		why = err.Error()
	}
	var divided *attribution.Together
	if err == nil {
		divided = s.input.Divide(p.P, timed(runs.Turns[p.P]), timed(runs.At[1]))
	}
	if divided == nil {
		r.Warnings = append(r.Warnings, report.Warning{Code: "no-turns", Message: "how much of the inflation is there when threads take turns on one core is not known: " + why})
		return
	}
	r.DivideInflation(divided, len(runs.Turns[p.P]))
	if runs.Place == nil || runs.NoSamples != nil {
		return
	}
	for i := range r.Lines {
		if e := attribution.Work(samples(runs.Turns[p.P]), s.names[i], attribution.Seconds(profiler.SamplePeriod.Seconds())); e != nil {
			w := float64(e.Mean)
			r.Lines[i].TurnsS = &w
		}
	}
}
