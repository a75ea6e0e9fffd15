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
func (s *scaleStudy) forecast(ctx context.Context, run func(context.Context, profiler.Config) (*profile.Profile, error), c *profiler.ScaleConfig, r *scaling.Report) {
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

func (s *scaleStudy) profiled(ctx context.Context, run func(context.Context, profiler.Config) (*profile.Profile, error), c *profiler.ScaleConfig, cores int) (*report.Report, error) {
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
