package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// prepare has a run leave its standard input for another one, if there is to be one:
// what comes back says how that run is configured, but for what it is to erase.
func (o *profileFlags) prepare(c *profiler.Config) (again func() (profiler.Config, func(), error), err error) {
	if !o.verify {
		return nil, nil
	}
	replay, err := profiler.Replay(os.Stdin)
	if err != nil {
		return nil, err
	}
	if c.Stdin, err = replay(); err != nil {
		return nil, err
	}
	next := *c
	return func() (profiler.Config, func(), error) {
		stdin, err := replay()
		if err != nil {
			return next, nil, err
		}
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			stdin.Close()
			return next, nil, err
		}
		next.Stdin, next.Stdout, next.Stderr, next.Progress = stdin, null, null, nil
		next.Analyses = "" // the code is another one, for this run alone
		return next, func() { stdin.Close(); null.Close() }, nil
	}, nil
}

// verify runs the program once more, without its output, and with all misses that are
// causes as hits (rule 25). What goes wrong in it is no reason not to report.
func (c profileCommand) verify(ctx context.Context, r *report.Report, p *profile.Profile, again func() (profiler.Config, func(), error)) error {
	erased := r.Erasable()
	if len(erased) == 0 {
		return nil
	}
	if ctx.Err() != nil || slices.Contains([]string{"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL"}, p.Run.Signal) {
		r.NotVerified(errors.New("the run was ended from outside"))
		return nil
	}
	config, end, err := again()
	if err == nil {
		defer end()
		config.Erased = erased
		var q *profile.Profile
		q, err = c.run(ctx, config)
		if err == nil && q.Run.Signal != p.Run.Signal {
			err = fmt.Errorf("the run with the misses erased was ended by %s", cmp.Or(q.Run.Signal, "itself"))
		}
		if err == nil {
			return r.Verify(p, q)
		}
	}
	r.NotVerified(err)
	return nil
}
