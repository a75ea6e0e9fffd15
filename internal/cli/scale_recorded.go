package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// worthIt is the part of the core time that must be lost to something for it to be asked
// why.
const worthIt = 0.03

// apart is by how much more or less CPU time recorded runs may take before it is said.
const (
	apart = 0.1
	start = 0.02 // seconds: that is what it takes to begin
)

// recorder records a run.
type recorder func(context.Context, profiler.Config) (*profiler.Recording, error)

// turnsRecorder does so with all threads on one core, for so long at most.
type turnsRecorder func(context.Context, profiler.Config, time.Duration) (*profiler.Recording, error)

// recorded records runs on each number of cores that there are, by turns, and adds what
// these say of sections, and of what threads waited for. Where work inflates, or a section
// was not met on one core, others have all threads on one core, where they take turns.
// Nothing else depends on it: if it fails, the report says so.
func (s *scaleStudy) recorded(ctx context.Context, record recorder, byTurns turnsRecorder, c *profiler.ScaleConfig, r *scaling.Report) {
	var ps []int
	for i := range r.Points {
		if !r.Points[i].Oversubscribed {
			ps = append(ps, r.Points[i].P)
		}
	}
	if s.stopped || s.o.noWaits || s.o.recorded == 0 || record == nil || len(ps) < 2 {
		return
	}
	runs, err := s.record(ctx, record, c, ps)
	if err == nil {
		err = r.Unseen(runs)
	}
	if err == nil && byTurns != nil && !s.o.noTurns && !s.spins && (inflates(lastReal(r)) || scaling.Incomparable(runs)) {
		var more []*scaling.Recorded
		more, err = s.byTurns(ctx, byTurns, c, r)
		runs = append(runs, more...)
	}
	if err != nil {
		s.stopped = true
		r.Warnings = append(r.Warnings, report.Warning{Code: "no-sections", Message: "what sections take, and what threads waited for, is not known: " + err.Error()})
		return
	}
	r.AddSections(runs)
	last := ps[len(ps)-1]
	onLast := slices.DeleteFunc(runs, func(x *scaling.Recorded) bool { return x.P != last || x.Turns })
	// Where cores idle it is asked why; threads that spin may wait without that.
	w := scaling.WaitsOf(onLast, last)
	if at := idlest(r); at != nil || w != nil && w.Total >= worthIt*float64(last)**w.TimeS {
		if r.Waits = w; w == nil {
			r.Warnings = append(r.Warnings, report.Warning{Code: "no-waits", Message: "what threads waited for is not known: none were seen to meet in a recorded run"})
		}
		r.DivideIdle()
	}
	if !s.o.forecast {
		r.Foresee(onLast[len(onLast)-1].Report, last)
	}
	s.apart(r)
}

// apart says where recorded runs took another CPU time than those that were timed. Less it
// may be, too: the code stands elsewhere, and threads meet at other moments.
func (s *scaleStudy) apart(r *scaling.Report) {
	for _, x := range r.Recorded {
		if x.Slowdown == nil || math.Abs(*x.Slowdown-1) <= apart || math.Abs(x.CPUS*(1 - 1 / *x.Slowdown)) <= start {
			continue
		}
		r.Warnings = append(r.Warnings, report.Warning{Code: "recorded-apart", Message: fmt.Sprintf(
			"the runs on %s that were recorded took %.2f× the CPU time of those that were timed: figures of sections are theirs", units.Plural(x.P, "core"), *x.Slowdown)})
		return
	}
}

// byTurns records runs whose threads take turns on one core. That they take too long for
// that is no error.
func (s *scaleStudy) byTurns(ctx context.Context, record turnsRecorder, c *profiler.ScaleConfig, r *scaling.Report) ([]*scaling.Recorded, error) {
	p := lastReal(r)
	limit := turnsLimit(r, p)
	within := func(ctx context.Context, c profiler.Config) (*profiler.Recording, error) {
		return record(ctx, c, limit)
	}
	runs, err := s.record(ctx, within, c, []int{p.P})
	if errors.Is(err, profiler.ErrTurns) {
		r.Warnings = append(r.Warnings, report.Warning{Code: "no-turns", Message: "what sections take when threads take turns on one core is not known: " + err.Error()})
		return nil, nil
	}
	for _, x := range runs {
		x.Turns = true
	}
	return runs, err
}

// record records the runs.
func (s *scaleStudy) record(ctx context.Context, record recorder, c *profiler.ScaleConfig, ps []int) (runs []*scaling.Recorded, err error) {
	begun := time.Now()
	order := slices.Clone(ps)
	for range s.o.recorded {
		for _, p := range order {
			if c.Progress != nil {
				c.Progress(profiler.ScaleProgress{Elapsed: time.Since(begun), Done: len(runs), All: len(ps) * s.o.recorded, What: fmt.Sprintf("%d threads, recorded", p)})
			}
			x, err := s.recordOne(ctx, record, c, p)
			if err != nil {
				return nil, err
			}
			runs = append(runs, x)
		}
		slices.Reverse(order)
	}
	return runs, nil
}

func (s *scaleStudy) recordOne(ctx context.Context, record recorder, c *profiler.ScaleConfig, p int) (*scaling.Recorded, error) {
	config, err := s.again(c, p)
	if err != nil {
		return nil, err
	}
	defer config.Stdin.Close()
	x, err := record(ctx, *config)
	if err != nil {
		return nil, err
	}
	return scaling.NewRecorded(x.Profile, p, x.CPU.Seconds(), x.Queue.Seconds(), x.Seen)
}

// again is how one more run on so many cores is profiled. Its Stdin is to be closed.
func (s *scaleStudy) again(c *profiler.ScaleConfig, cores int) (*profiler.Config, error) {
	stdin, err := c.Stdin()
	if err != nil {
		return nil, err
	}
	words, env := c.Program.With(cores)
	config := &profiler.Config{
		Path: s.path, Name: words[0], Args: words[1:], Env: env, Backend: "auto", Events: []string{"edges"},
		Stdin: stdin, Stdout: c.Stdout, Stderr: c.Stderr, FollowExec: true,
	}
	if dir := cacheDir(); dir != "" {
		config.Analyses = filepath.Join(dir, "analyses")
	}
	return config, nil
}

// idlest is the last point with a core for each thread, if enough idles there.
func idlest(r *scaling.Report) *scaling.Point {
	p := lastReal(r)
	if p == nil || p.IdleS == nil || *p.IdleS < worthIt*float64(p.P)*p.TimeS {
		return nil
	}
	return p
}

// lastReal is the last point with a core for each thread, of more than one; nil: none.
func lastReal(r *scaling.Report) *scaling.Point {
	for i := len(r.Points) - 1; i > 0; i-- {
		if p := &r.Points[i]; !p.Oversubscribed {
			return p
		}
	}
	return nil
}
