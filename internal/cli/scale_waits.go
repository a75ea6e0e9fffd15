package cli

import (
	"context"
	"path/filepath"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// worthIt is the part of the core time that idles from which on it is asked why.
const worthIt = 0.03

// waits profiles the program once more where cores idle, and adds what its threads
// waited for to the report. Nothing else depends on it: if it fails, the report says so.
func (s *scaleStudy) waits(ctx context.Context, run func(context.Context, profiler.Config) (*profile.Profile, error), c *profiler.ScaleConfig, r *scaling.Report) {
	at := idlest(r)
	if at == nil || s.o.noWaits || run == nil {
		return
	}
	found, err := s.profiled(ctx, run, c, at.P, false)
	if err == nil {
		r.Waits = scaling.WaitsOf(found, at.P)
		r.DivideIdle(found)
		if !s.o.forecast {
			r.Foresee(found, at.P)
		}
	}
	switch {
	case err != nil:
		r.Warnings = append(r.Warnings, report.Warning{Code: "no-waits", Message: "what threads waited for is not known: " + err.Error()})
	case r.Waits == nil:
		r.Warnings = append(r.Warnings, report.Warning{Code: "no-waits", Message: "what threads waited for is not known: none were seen to meet in a profiled run"})
	}
}

// forecast profiles the program once more, with as few threads as are more than one,
// telling its units of work, and adds what speedups its tasks allow.
func (s *scaleStudy) forecast(ctx context.Context, run func(context.Context, profiler.Config) (*profile.Profile, error), c *profiler.ScaleConfig, r *scaling.Report) {
	if !s.o.forecast || run == nil || len(s.o.threads) < 2 {
		return
	}
	p := s.o.threads[1]
	found, err := s.profiled(ctx, run, c, p, true)
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

// idlest is the last point with a core for each thread, if enough idles there.
func idlest(r *scaling.Report) *scaling.Point {
	for i := len(r.Points) - 1; i > 0; i-- {
		if p := &r.Points[i]; !p.Oversubscribed {
			if p.IdleS == nil || *p.IdleS < worthIt*float64(p.P)*p.TimeS {
				return nil
			}
			return p
		}
	}
	return nil
}

func (s *scaleStudy) profiled(ctx context.Context, run func(context.Context, profiler.Config) (*profile.Profile, error), c *profiler.ScaleConfig, cores int, tellUnits bool) (*report.Report, error) {
	stdin, err := c.Stdin()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	words, env := c.Program.With(cores)
	config := profiler.Config{
		Path: s.path, Name: words[0], Args: words[1:], Env: env, Backend: "auto", Events: []string{"edges"}, Units: tellUnits,
		Stdin: stdin, Stdout: c.Stdout, Stderr: c.Stderr,
	}
	if dir := cacheDir(); dir != "" {
		config.Analyses = filepath.Join(dir, "analyses")
	}
	p, err := run(ctx, config)
	if err != nil {
		return nil, err
	}
	return report.New(p, report.Options{})
}
