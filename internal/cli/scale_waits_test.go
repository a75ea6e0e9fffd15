package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
)

// waited runs the command with a program that idles, or not, and a profile.
func waited(t *testing.T, profiled func(context.Context, profiler.Config) (*profile.Profile, error), args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	if e := (scaleCommand{pretended, profiled}).do(context.Background(), &out, &err, append(args, "--threads", "1,2", "-o", "-", "--", "/bin/true", "{threads}")); e != nil {
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
	if got := waited(t, nil, "--plot", file, "--plot-stack", stack); !strings.Contains(got, "speedup") {
		t.Error(got)
	}
	if b, err := os.ReadFile(stack); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("%v: %.100s", err, b)
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.Contains(b, []byte("<svg")) {
		t.Errorf("%v: %.100s", err, b)
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

// Where cores idle, one more run is profiled with as many threads; what goes wrong
// with it is said, and all else is reported.
func TestIdleTimeIsAskedAbout(t *testing.T) {
	calls := 0
	fails := func(_ context.Context, c profiler.Config) (*profile.Profile, error) {
		if calls++; c.Path != "/bin/true" || len(c.Args) != 1 || c.Args[0] != "2" || c.Stdin == nil {
			t.Errorf("asked to run %+v", c)
		}
		return nil, errors.New("not here")
	}
	if got := waited(t, fails); calls != 1 || !strings.Contains(got, "what threads waited for is not known: not here") || !strings.Contains(got, "speedup") {
		t.Errorf("%d calls: %s", calls, got)
	}
	if got := waited(t, fails, "--no-waits"); calls != 1 || strings.Contains(got, "waited for is not known") {
		t.Errorf("%d calls: %s", calls, got)
	}
	alone := func(context.Context, profiler.Config) (*profile.Profile, error) {
		return &profile.Profile{Program: profile.Program{Path: "/bin/true"}, Threads: []profile.Thread{{EndNS: 1}}}, nil
	}
	if got := waited(t, alone); !strings.Contains(got, "none were seen to meet") {
		t.Error(got)
	}
}

// twoTasks is a profile of two threads, of which one does twice as much as the other.
func twoTasks() *profile.Profile {
	return &profile.Profile{Program: profile.Program{Path: "/bin/true"}, Threads: []profile.Thread{{EndNS: 300e6, CPUNS: 200e6}, {ID: 1, EndNS: 300e6, CPUNS: 100e6, Creator: 1, Joiner: 1, JoinedNS: 300e6}}}
}

// With --forecast a run is profiled with units, on as few cores as are more than one, and
// what it tells stands beside what was measured; without, what the run that was
// profiled for its waits tells. What goes wrong is said.
func TestForecast(t *testing.T) {
	var asked []profiler.Config
	fine := func(_ context.Context, c profiler.Config) (*profile.Profile, error) {
		asked = append(asked, c)
		return twoTasks(), nil
	}
	if got := waited(t, fine, "--forecast", "--no-waits"); len(asked) != 1 || !asked[0].Units || asked[0].Args[0] != "2" || !strings.Contains(got, "a speedup of up to 1.50") {
		t.Errorf("%d runs: %s", len(asked), got)
	}
	if got := waited(t, fine); len(asked) != 2 || asked[1].Units || !strings.Contains(got, "a speedup of up to 1.50") {
		t.Errorf("%d runs: %s", len(asked), got)
	}
	fails := func(context.Context, profiler.Config) (*profile.Profile, error) { return nil, errors.New("not here") }
	if got := waited(t, fails, "--forecast", "--no-waits"); !strings.Contains(got, "there is no forecast: not here") || !strings.Contains(got, "speedup") {
		t.Error(got)
	}
	alone := func(context.Context, profiler.Config) (*profile.Profile, error) {
		return &profile.Profile{Program: profile.Program{Path: "/bin/true"}, Threads: []profile.Thread{{EndNS: 1}}}, nil
	}
	if got := waited(t, alone, "--forecast", "--no-waits"); !strings.Contains(got, "which of its tasks had to wait for which") {
		t.Error(got)
	}
}
