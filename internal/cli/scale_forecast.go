package cli

import (
	"context"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// forecast profiles the program once more, with as few threads as are more than one,
// telling its units of work, and adds what speedups its tasks allow.
func (s *scaleStudy) forecast(ctx context.Context, run profilerOf, c *profiler.ScaleConfig, r *scaling.Report) {
	if !s.o.forecast || run == nil || len(s.o.threads) < 2 || s.stopped {
		return
	}
	p := s.o.threads[1]
	found, err := s.profiled(ctx, run, c, p)
	why := "the profiled run does not tell which of its tasks had to wait for which"
	if err != nil {
		why = err.Error()
	}
	if err != nil || !r.Foresee(found, p) {
		r.Warnings = append(r.Warnings, report.Warning{Code: "no-forecast", Message: "there is no forecast: " + why})
		return
	}
	r.Warnings = append(r.Warnings, found.CriticalPath.Warnings...)
}

// simulate profiles the program on one core and on the most, with simulated caches, and
// divides the inflation by what these missed.
func (s *scaleStudy) simulate(ctx context.Context, run profilerOf, c *profiler.ScaleConfig, r *scaling.Report) {
	last := lastReal(r)
	if !s.o.caches || run == nil || last == nil || s.stopped {
		return
	}
	fail := func(why string) {
		r.Warnings = append(r.Warnings, report.Warning{Code: "no-caches", Message: "what caches have to do with the inflation is not known: " + why})
	}
	var both []scaling.Simulated
	for _, p := range []int{1, last.P} {
		config, err := s.again(c, p)
		if err != nil {
			fail(err.Error())
			return
		}
		config.Events = append(config.Events, "cache")
		if p > 1 { // what threads take from each other, they take while they run at the same time
			config.Cores = p
		}
		x, err := run(ctx, *config)
		config.Stdin.Close()
		var of *report.Report
		if err == nil {
			of, err = report.New(x, report.Options{})
		}
		if err != nil {
			s.stopped = true
			fail(err.Error())
			return
		}
		both = append(both, scaling.Simulated{Profile: x, Report: of})
	}
	if !r.Simulate(both[0], both[1], last.P) {
		fail("the runs with simulated caches do not tell")
	}
}

// profilerOf profiles a run.
type profilerOf = func(context.Context, profiler.Config) (*profile.Profile, error)

func (s *scaleStudy) profiled(ctx context.Context, run profilerOf, c *profiler.ScaleConfig, cores int) (*report.Report, error) {
	config, err := s.again(c, cores)
	if err != nil {
		return nil, err
	}
	defer config.Stdin.Close()
	config.Units = true
	p, err := run(ctx, *config)
	if err != nil {
		return nil, err
	}
	return report.New(p, report.Options{})
}
