package profiler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/timed"
)

// Recording is a run in which nothing was counted: its profile says when threads met,
// worked and waited, and for what.
type Recording struct {
	Profile *profile.Profile
	CPU     time.Duration // of all threads
	Queue   time.Duration // for which threads were ready but had no core, added up
	Seen    float64       // for which part of CPU that is known
}

// Record runs a program to its end and keeps when its threads met, worked and waited.
// What a lone thread does up to where others would meet it counts, too, so that runs
// with one thread and with many can be compared. A run that fails is an error.
func Record(ctx context.Context, c Config) (*Recording, error) { return record(ctx, c, false) }

// RecordTurns is Record, with all threads on one core, where they take turns. It fails with
// ErrTurns if that takes longer than a limit.
func RecordTurns(ctx context.Context, c Config, limit time.Duration) (*Recording, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := record(within, c, true)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return nil, ErrTurns
	}
	return r, err
}

func record(ctx context.Context, c Config, turns bool) (*Recording, error) {
	var end func() (cpu, queue time.Duration)
	var failed error
	c.Times = true
	c.started = func(pid int) {
		if end == nil { // else it has become another program
			end = timed.Watch(pid)
		}
		if turns {
			failed = timed.Turns(pid)
		}
	}
	p, err := Run(ctx, c)
	r := &Recording{Profile: p}
	var seen time.Duration
	if end != nil {
		seen, r.Queue = end()
	}
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	switch {
	case p.Run.Signal != "":
		return nil, fmt.Errorf("ended by %s: only runs that succeed are recorded; try it alone", p.Run.Signal)
	case p.Run.ExitCode != 0:
		return nil, fmt.Errorf("exit status %d: only runs that succeed are recorded; try it alone", p.Run.ExitCode)
	}
	for i := range p.Threads {
		r.CPU += time.Duration(p.Threads[i].CPUNS)
	}
	r.Seen = 1
	if r.CPU > 0 {
		r.Seen = min(1, float64(seen)/float64(r.CPU))
	}
	return r, nil
}
