package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/skewlens/skewlens/attribution"
	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// scaleStudy is one study, from what was asked for to its report.
type scaleStudy struct {
	o            *scaleFlags
	words        []string // the program as it was called
	path         string
	cores, whole int
	quota        int      // how many cores' time this process may use at most, where that is limited; 0: it is not
	passive      []string // set for the program
	input        attribution.Input
	names        []string // of the places of the report's inflated lines
	spins        bool     // by turns it takes far too long
	stopped      bool     // one more run has failed: there shall be no others
}

// config times what was asked for.
func (s *scaleStudy) config(stderr io.Writer, pr *progress) (profiler.ScaleConfig, error) {
	// Who forgot that the program is given its input waits for a terminal that is none.
	late := time.AfterFunc(2*patience, func() {
		fmt.Fprintln(stderr, "skewlens: reading standard input to its end, because each run is given it: < /dev/null if the program reads none")
	})
	defer late.Stop()
	env, passive := s.o.environment()
	s.passive = passive
	stdin, err := profiler.Replay(os.Stdin)
	c := profiler.ScaleConfig{
		Program: profiler.Command{Path: s.path, Words: s.words, Env: env}, Baseline: shell(s.o.baseline, env), Elision: shell(s.o.elision, env),
		Threads: s.o.threads, Runs: s.o.runs, Warmup: s.o.warmup, Pin: s.o.pin, Lines: !s.o.noLines,
		Stdin: stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	if pr != nil {
		c.Progress = pr.scale
	}
	return c, err
}

// quota is the limit of the control group that this process is in, rounded up; Go
// reads it for itself. 0: there is none, or the user has told Go otherwise.
func quota(cores int) int {
	if n := runtime.GOMAXPROCS(0); n < cores && os.Getenv("GOMAXPROCS") == "" {
		return n
	}
	return 0
}

// shell is what runs a command line; nil for none.
func shell(line string, env []string) *profiler.Command {
	if line == "" {
		return nil
	}
	return &profiler.Command{Path: "/bin/sh", Words: []string{"sh", "-c", line}, Env: env}
}

// report makes the report of what was timed.
func (s *scaleStudy) report(runs *profiler.ScaleRuns) (*scaling.Report, error) {
	in := attribution.Input{Cores: s.cores, Baseline: timed(runs.Baseline), Elision: timed(runs.Elision), Runs: map[int][]attribution.Run{}}
	for p, rs := range runs.At {
		in.Runs[p] = timed(rs)
	}
	x, err := attribution.Factor(in)
	if err != nil {
		return nil, err
	}
	lines := sampledLines{runs: runs, path: s.path, p: x.Last().P}
	inflated, names := lines.inflated()
	s.input, s.names = in, names
	doubts := append(s.doubts(runs), lines.doubts()...)
	return scaling.New(scaling.Study{
		Program:  report.Program{Path: s.path, Args: s.words[1:]},
		Setting:  scaling.Setting{Cores: s.cores, Whole: s.whole, Warmup: s.o.warmup, Pinned: s.o.pin, Environment: s.passive, SamplePeriodS: lines.period()},
		Baseline: s.o.baseline, Elision: s.o.elision, Scaling: x, Lines: inflated, Serial: lines.serial(x.Last()), Doubts: doubts,
	}), nil
}

func timed(runs []profiler.TimedRun) (out []attribution.Run) {
	for _, r := range runs {
		cpu, queue := attribution.Seconds(r.CPU.Seconds()), attribution.Seconds(r.Queue.Seconds())
		out = append(out, attribution.Run{Wall: attribution.Seconds(r.Wall.Seconds()), CPU: &cpu, Queue: &queue})
	}
	return out
}

// leastSeen is the part of the CPU time whose waiting for cores must be known: that is
// a few per cent of the core time, of which a quarter changes little.
const leastSeen = 0.75

// doubts are about how it was measured.
func (s *scaleStudy) doubts(runs *profiler.ScaleRuns) (ws []profile.Warning) {
	add := func(code, format string, args ...any) {
		ws = append(ws, profile.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if !s.has() {
		told, how := "only OMP_NUM_THREADS", "--env NAME={threads} tells it (GOMAXPROCS, RAYON_NUM_THREADS), and one that counts cores --pin"
		if s.o.pin {
			told, how = "only OMP_NUM_THREADS and the cores that it was kept on", "--env NAME={threads} tells it (GOMAXPROCS, RAYON_NUM_THREADS)"
		}
		add("threads-fixed", "no argument and no --env has {threads}, so %s told it how many threads to have: if it heeds none of that, all runs were the same: %s", told, how)
	}
	var over []string
	for _, p := range s.o.threads {
		if p > s.cores {
			over = append(over, fmt.Sprint(p))
		}
	}
	if over != nil {
		add("oversubscribed", "with %s threads there were more threads than the %d cores: they waited for each other, so idle time is not known there", strings.Join(over, ", "), s.cores)
	}
	if most := s.o.threads[len(s.o.threads)-1]; s.whole < s.cores && most > s.whole {
		add("hardware-threads", "the %d hardware threads are on %d cores: with more than %d threads, two share a core, which is inflation as any other", s.cores, s.whole, s.whole)
	}
	if most := s.o.threads[len(s.o.threads)-1]; s.quota > 0 && most > s.quota {
		add("cpu-quota", "the container, or its control group, allows the time of %s: with more threads the kernel stops all of them now and then, which counts as idle time", units.Plural(s.quota, "core"))
	}
	least, left := 1.0, false
	for _, rs := range runs.At {
		seen := 0.0
		for _, r := range rs {
			seen += r.Seen / float64(len(rs))
			left = left || r.Left
		}
		least = min(least, seen)
	}
	if least < leastSeen {
		add("short-threads", "how long threads waited for cores is known for %.0f %% of the CPU time only: they ended before they could be looked at; what is missing counts as idle time", 100*least)
	}
	if left {
		add("left-running", "something that it has started still ran when it ended: its CPU time is not counted, and it may have disturbed later runs")
	}
	return ws
}
