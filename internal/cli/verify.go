package cli

import (
	"context"
	"os"

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
	if len(erased) == 0 || ctx.Err() != nil {
		return nil
	}
	config, end, err := again()
	if err == nil {
		defer end()
		config.Erased = erased
		var q *profile.Profile
		if q, err = c.run(ctx, config); err == nil {
			return r.Verify(p, q)
		}
	}
	r.NotVerified(err)
	return nil
}
