// Package profiler runs a program and returns its profile.
//
//	Config ─▶ the table of backends: who can count that here?
//	             │
//	             ▼  backend.Job
//	          backend (native; others come beside it)
//	             │
//	             ▼  backend.Outcome: counts, threads, sections
//	          finish: coverage, source lines, warnings, validity ─▶ *profile.Profile
//
// Without running anything, it says where a program's threads may meet
// (CallSites), and reads the code and lines that a profile's addresses stand
// for (Instructions, Lines).
//
// The target's input, output, exit code, working directory and signals are its
// own. Ctrl-C on a terminal reaches the whole foreground group, so the target
// gets it as if nobody looked, and the profile of what happened until then is
// returned.
package profiler

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/cachesim"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/caches"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Config says what to run, and how.
type Config struct {
	Path                  string
	Name                  string // as which the program is called, its argv[0]; "": Path
	Args                  []string
	Env                   []string       // nil: this process's
	Dir                   string         // "": this process's
	Backend               string         // "auto" and "": the best that works here and counts Events; or its name, as "native"
	Events                []string       // what to count, as "edges", "cache"; nil: edges
	Libraries             []string       // which shared libraries to profile beside those that the program needs: patterns of their names, as "libfft*"; "none": only those that others match
	Machine               string         // whose caches are simulated, where Events have cache: "host" and "", "paper", "server64", or a file
	SampleSets            int            // simulate one of so many of the caches' sets; 0: all
	Reuse                 bool           // tell how far back accesses come, in caches of all sizes, instead of simulating Machine's
	Erased                []profile.Addr // instructions of which all accesses shall hit the simulated caches: see Profile.Event
	Times                 bool           // count nothing: only when threads met, worked and waited; what a lone thread meets is a section, too
	Units                 bool           // tell how much work each unit of a section was
	Cores                 int            // virtual cores, as if on which threads are kept together; 0: none
	FollowExec            bool           // profile the last program that takes the first one's place (execve)
	Stdin, Stdout, Stderr *os.File       // nil: this process's
	Progress              func(Progress)
	Analyses              string        // directory where analyses of large programs are kept for the next run; "": nowhere
	Rank                  *profile.Rank // which process of a program of several this is; nil: it is none
	Probe                 string        // for measuring: what the native backend shall do without, as "no-induction,no-align"

	started func(pid int) // nil: nobody is interested
	testing backend.Testing
}

// ParseSample reads which part of caches' sets is to be simulated, "1/16": Config.SampleSets.
func ParseSample(s string) (of int, err error) {
	n, ok := strings.CutPrefix(s, "1/")
	if of, err = strconv.Atoi(n); err != nil || !ok || of < 1 || of > 32 || of&(of-1) != 0 {
		return 0, fmt.Errorf("%q is no part of the sets that can be simulated: 1/2, 1/4, 1/8, 1/16 or 1/32, or 1/1 for all", s)
	}
	return of, nil
}

// reuseSample is the part of the sets that is looked at where it is told how far back
// accesses come: lists of lines are searched for each access, and vary little between sets.
const reuseSample = 16

// Progress is how far a run has come.
type Progress struct {
	Elapsed   time.Duration
	Threads   int // alive
	Instances int // of sections, completed
}

// Run runs a program to its end and returns its profile. When ctx is
// cancelled the target is ended (SIGTERM, a second later SIGKILL) and the
// profile up to there is returned; an error where it had not begun. Errors say in one line what failed, on
// what, and the fix.
func Run(ctx context.Context, c Config) (*profile.Profile, error) { return run(ctx, c, backends) }

func run(ctx context.Context, c Config, table []backend.Backend) (*profile.Profile, error) {
	j := c.job()
	able, err := choose(table, c.Backend, j.Events)
	if err != nil {
		return nil, err
	}
	if j.Path, err = Find(c.Path, c.Dir); err != nil {
		return nil, err
	}
	var doubts []profile.Warning
	switch {
	case c.Reuse:
		m := caches.Filter
		j.Machine, j.Reuse, j.SampleSets = &m, true, cmp.Or(c.SampleSets, reuseSample)
	case slices.Contains(j.Events, backend.Cache):
		m, w, err := cachesim.Find(cmp.Or(c.Machine, "host"), nil)
		if err != nil {
			return nil, err
		}
		j.Machine = &m
		for _, doubt := range w {
			doubts = append(doubts, profile.Warning{Code: "machine", Message: doubt})
		}
	}
	guard := guardSignals(ctx)
	defer guard.stop()
	j.Started, j.Running = guard.started, guard.runs
	if c.started != nil {
		j.Started = func(pid int) { guard.started(pid); c.started(pid) }
	}
	type result struct {
		p   *profile.Profile
		err error
	}
	ended := make(chan result, 1)
	go func() {
		p, err := work(j, able, c.Rank)
		if p != nil {
			p.Warnings = append(p.Warnings, doubts...)
		}
		runtime.KeepAlive(c) // its files
		ended <- result{p, err}
	}()
	select {
	case r := <-ended:
		return r.p, r.err
	case <-guard.up: // to read and prepare a program of many megabytes takes long
		return nil, guard.given
	}
}

// work runs a job by the first backend that can do it.
func work(j backend.Job, able []backend.Backend, rank *profile.Rank) (*profile.Profile, error) {
	var opened []*Lines
	defer func() {
		for _, l := range opened {
			l.Close()
		}
	}()
	j.Open = func(path string) (*image.Image, backend.Lines, error) {
		im, l, err := openProgram(path, j.Analyses)
		if err == nil {
			opened = append(opened, l)
		}
		return im, l, err
	}
	o, by, err := try(able, j)
	if err != nil {
		return nil, err
	}
	if rank != nil {
		r := *rank
		r.StartNS = o.Began.UnixNano()
		o.Profile.Ranks = []profile.Rank{r}
	}
	p, err := finish(o, by)
	if l, is := o.Lines.(*Lines); is && err == nil {
		l.keep(p)
	}
	return p, err
}

// job is what a backend is to do, but for what it takes from this package.
func (c *Config) job() backend.Job {
	j := backend.Job{Name: cmp.Or(c.Name, c.Path), Args: c.Args, Env: c.Env, Dir: c.Dir, Files: [3]uintptr{0, 1, 2},
		Libraries: c.Libraries, Erased: c.Erased, SampleSets: c.SampleSets, Cores: c.Cores, Times: c.Times, Units: c.Units, Beside: c.Rank != nil && c.Rank.Size > 1, FollowExec: c.FollowExec, Analyses: c.Analyses, Probe: c.Probe, Testing: c.testing}
	for i, f := range []*os.File{c.Stdin, c.Stdout, c.Stderr} {
		if f != nil {
			j.Files[i] = f.Fd()
		}
	}
	if j.Env == nil {
		j.Env = os.Environ()
	}
	for _, e := range c.Events {
		j.Events = append(j.Events, backend.Events(e))
	}
	if j.Events == nil {
		j.Events = []backend.Events{backend.Edges}
	}
	if c.Progress != nil {
		j.Progress = func(e time.Duration, t, n int) { c.Progress(Progress{e, t, n}) }
	}
	return j
}

// openProgram reads a program, with what is known of it from earlier runs, or says why it cannot be profiled.
func openProgram(path, dir string) (*image.Image, *Lines, error) {
	im, err := image.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 && os.Geteuid() != 0 {
		return nil, nil, fmt.Errorf("%s: is setuid, and would run without its rights under a profiler; run skewlens as root", path)
	}
	l, err := openLines(path, dir)
	return im, l, err
}

// TraceFix says why a system may forbid what the native backend does, and the
// fix.
func TraceFix() string { return tracee.Fix() }
