package cli

import (
	"context"
	"math"

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
	config.Warmup = min(1, config.Warmup)
	runs, err := run(ctx, config)
	why := "the runs do not tell: threads spin while they wait for each other, or there are too few"
	if err != nil {
		s.stopped = true
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
