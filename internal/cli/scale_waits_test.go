package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
)

// waited runs the command with a program that idles, or not; what it does beside is what
// others does.
func waited(t *testing.T, others scaleCommand, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	others.run = pretended
	if e := others.do(context.Background(), &out, &err, append(args, "--threads", "1,2", "-o", "-", "--", "/bin/true", "{threads}")); e != nil {
		t.Fatal(e)
	}
	return out.String()
}

// The picture is written beside the report; what cannot be one is refused before
// anything runs.
func TestPlot(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "speedups.svg")
	stack := filepath.Join(dir, "stack.svg")
	lines := filepath.Join(dir, "lines.svg")
	if got := waited(t, scaleCommand{}, "--plot-lines", lines); !strings.Contains(got, "[no-picture]") {
		t.Error(got)
	}
	if _, err := os.Stat(lines); err == nil {
		t.Error("a picture of nothing")
	}
	if got := waited(t, scaleCommand{}, "--plot", file, "--plot-stack", stack); !strings.Contains(got, "speedup") {
		t.Error(got)
	}
	if b, err := os.ReadFile(stack); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("%v: %.100s", err, b)
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("%v: %.100s", err, b)
	}
	// Of a program that more threads than cores wait in, on all cores, no stack is known.
	unknown := filepath.Join(dir, "unknown.svg")
	_, got := pretend(t, func(ctx context.Context, c profiler.ScaleConfig) (*profiler.ScaleRuns, error) {
		r, err := pretended(ctx, c)
		for _, runs := range r.At {
			for i := range runs {
				runs[i].Wall, runs[i].Queue = 2*runs[i].CPU, 100*runs[i].CPU
			}
		}
		return r, err
	}, "--threads", "2", "--plot-stack", unknown, "--", "true", "{threads}")
	if _, err := os.Stat(unknown); err == nil || !strings.Contains(got, "[no-picture]") {
		t.Errorf("%v: %s", err, got)
	}
	for _, bad := range []string{"speedups.gif", filepath.Join(dir, "none", "x.svg")} {
		err := (scaleCommand{run: func(context.Context, profiler.ScaleConfig) (*profiler.ScaleRuns, error) {
			t.Error("it ran")
			return nil, errors.New("it ran")
		}}).do(context.Background(), io.Discard, io.Discard, []string{"--plot", bad, "--", "/bin/true", "{threads}"})
		if err == nil || !strings.Contains(err.Error(), filepath.Base(bad)) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Runs are recorded on each number of cores, by turns; what goes wrong with one is said,
// and all else is reported, but nothing more is run.
func TestRunsAreRecorded(t *testing.T) {
	var asked []string
	fails := func(_ context.Context, c profiler.Config) (*profiler.Recording, error) {
		if asked = append(asked, c.Args...); c.Path != "/bin/true" || len(c.Args) != 1 || c.Stdin == nil {
			t.Errorf("asked to run %s %v", c.Path, c.Args)
		}
		return nil, errors.New("not here")
	}
	never := func(context.Context, profiler.Config) (*profile.Profile, error) {
		t.Error("it was profiled")
		return nil, errors.New("not here")
	}
	if got := waited(t, scaleCommand{record: fails, profile: never}, "--forecast"); len(asked) != 1 || !strings.Contains(got, "[no-sections]") || !strings.Contains(got, "is not known: not here") || !strings.Contains(got, "speedup") {
		t.Errorf("%v: %s", asked, got)
	}
	for _, flag := range []string{"--no-waits", "--recorded=0"} {
		if got := waited(t, scaleCommand{record: fails}, flag); len(asked) != 1 || strings.Contains(got, "no-sections") {
			t.Errorf("%v: %s", asked, got)
		}
	}
	asked = nil
	fine := func(_ context.Context, c profiler.Config) (*profiler.Recording, error) {
		asked = append(asked, c.Args...)
		return &profiler.Recording{Profile: twoTasks(), CPU: 2 * time.Second, Seen: 1}, nil
	}
	got := waited(t, scaleCommand{record: fine}, "--recorded", "2")
	if strings.Join(asked, " ") != "1 2 2 1" {
		t.Errorf("on %v", asked)
	}
	asked = nil
	turns := func(_ context.Context, c profiler.Config, limit time.Duration) (*profiler.Recording, error) {
		asked = append(asked, fmt.Sprintf("by turns %s within %.0f s", c.Args[0], limit.Seconds()))
		return &profiler.Recording{Profile: twoTasks(), CPU: time.Second, Seen: 1}, nil
	}
	if pretend(t, inflating, "--threads", "2", "--", "true", "{threads}"); len(asked) > 0 {
		t.Errorf("on %v", asked)
	}
	var out, err bytes.Buffer
	if e := (scaleCommand{run: inflating, record: fine, byTurns: turns}).do(context.Background(), &out, &err, []string{"--recorded", "1", "--threads", "2", "--", "true", "{threads}"}); e != nil || strings.Join(asked, ",") != "1,2,by turns 2 within 13 s" {
		t.Errorf("%v: on %v", e, asked)
	}
	spins := func(context.Context, profiler.Config, time.Duration) (*profiler.Recording, error) {
		return nil, profiler.ErrTurns
	}
	if e := (scaleCommand{run: inflating, record: fine, byTurns: spins}).do(context.Background(), &out, &err, []string{"--recorded", "1", "--threads", "2", "--", "true", "{threads}"}); e != nil || !strings.Contains(err.String(), "[no-turns]") {
		t.Errorf("%v: %s", e, err.String())
	}
	few := func(ctx context.Context, c profiler.Config) (*profiler.Recording, error) {
		p := twoTasks()
		p.Run.WallNS = 500e6
		return &profiler.Recording{Profile: p, CPU: 100 * time.Millisecond, Seen: 1}, nil
	}
	if got := waited(t, scaleCommand{record: few}); !strings.Contains(got, "recorded runs saw 20 % of the CPU") || !strings.Contains(got, "[no-sections]") {
		t.Error(got)
	}
	for _, want := range []string{"none were seen to meet", "[recorded-apart]", "a speedup of up to 1.50"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// inflating runs work for twice as long on two cores as on one; its threads inflate by
// half of that when they take turns.
func inflating(_ context.Context, c profiler.ScaleConfig) (*profiler.ScaleRuns, error) {
	r := &profiler.ScaleRuns{At: map[int][]profiler.TimedRun{}, Turns: map[int][]profiler.TimedRun{}}
	for i := range c.Runs {
		some := time.Duration(1000+i) * time.Millisecond
		for _, p := range c.Threads {
			r.At[p] = append(r.At[p], profiler.TimedRun{Wall: some, CPU: some * time.Duration(p), Seen: 1})
		}
		for _, p := range c.Turns {
			r.Turns[p] = append(r.Turns[p], profiler.TimedRun{Wall: some * 3 / 2, CPU: some * 3 / 2, Seen: 1})
		}
	}
	return r, nil
}

// Where work inflates, threads take turns on one core, beside runs with one.
func TestThreadsTakeTurns(t *testing.T) {
	var asked []profiler.ScaleConfig
	run := func(ctx context.Context, c profiler.ScaleConfig) (*profiler.ScaleRuns, error) {
		asked = append(asked, c)
		if len(c.Turns) > 0 && c.Runs == 7 {
			return nil, errors.New("not here")
		}
		return inflating(ctx, c)
	}
	_, got := pretend(t, run, "--threads", "2", "--", "true", "{threads}")
	if len(asked) != 2 || len(asked[1].Threads) != 1 || asked[1].Threads[0] != 1 || asked[1].Turns[0] != 2 || !strings.Contains(got, "comes from running at the same time") {
		t.Errorf("%d studies: %s", len(asked), got)
	}
	if _, got := pretend(t, run, "--threads", "2", "--no-turns", "--", "true", "{threads}"); len(asked) != 3 || strings.Contains(got, "turns") {
		t.Errorf("%d studies: %s", len(asked), got)
	}
	for n, want := range map[string]string{"7": "is not known: not here", "1": "there are too few"} {
		if _, got := pretend(t, run, "--threads", "2", "--runs", n, "--", "true", "{threads}"); !strings.Contains(got, "[no-turns]") || !strings.Contains(got, want) {
			t.Errorf("%s runs: %s", n, got)
		}
	}
}

// twoTasks is a profile of two threads, of which one does twice as much as the other.
func twoTasks() *profile.Profile {
	return &profile.Profile{Program: profile.Program{Path: "/bin/true"}, Threads: []profile.Thread{{EndNS: 300e6, CPUNS: 200e6}, {ID: 1, EndNS: 300e6, CPUNS: 100e6, Creator: 1, Joiner: 1, JoinedNS: 300e6}}}
}

// With --forecast a run is profiled with units, on as few cores as are more than one, and
// what it tells stands beside what was measured. What goes wrong is said.
func TestForecast(t *testing.T) {
	var asked []profiler.Config
	fine := func(_ context.Context, c profiler.Config) (*profile.Profile, error) {
		asked = append(asked, c)
		return twoTasks(), nil
	}
	if got := waited(t, scaleCommand{profile: fine}, "--forecast", "--no-waits"); len(asked) != 1 || !asked[0].Units || asked[0].Args[0] != "2" || !strings.Contains(got, "a speedup of up to 1.50") {
		t.Errorf("%d runs: %s", len(asked), got)
	}
	fails := func(context.Context, profiler.Config) (*profile.Profile, error) { return nil, errors.New("not here") }
	if got := waited(t, scaleCommand{profile: fails}, "--forecast", "--no-waits"); !strings.Contains(got, "there is no forecast: not here") || !strings.Contains(got, "speedup") {
		t.Error(got)
	}
	alone := func(context.Context, profiler.Config) (*profile.Profile, error) {
		return &profile.Profile{Program: profile.Program{Path: "/bin/true"}, Threads: []profile.Thread{{EndNS: 1}}}, nil
	}
	if got := waited(t, scaleCommand{profile: alone}, "--forecast", "--no-waits"); !strings.Contains(got, "which of its tasks had to wait for which") {
		t.Error(got)
	}
}

// With --caches two runs are profiled with simulated caches, on one core and on the most,
// there with threads kept together. What goes wrong is said.
func TestCachesAreSimulated(t *testing.T) {
	var asked []profiler.Config
	fine := func(_ context.Context, c profiler.Config) (*profile.Profile, error) {
		asked = append(asked, c)
		return twoTasks(), nil
	}
	got := waited(t, scaleCommand{profile: fine}, "--caches")
	if len(asked) != 2 || asked[0].Args[0] != "1" || asked[0].Cores != 0 || asked[1].Args[0] != "2" || asked[1].Cores != 2 || !slices.Contains(asked[0].Events, "cache") || !strings.Contains(got, "[no-caches]") {
		t.Errorf("%d runs: %s", len(asked), got)
	}
	fails := func(context.Context, profiler.Config) (*profile.Profile, error) { return nil, errors.New("not here") }
	if got := waited(t, scaleCommand{profile: fails}, "--caches"); !strings.Contains(got, "is not known: not here [no-caches]") {
		t.Error(got)
	}
}
