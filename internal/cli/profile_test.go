package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
)

// skewed is a profile of a barrier where one of four threads executes four
// times as much, at a branch that it alone takes.
func skewed() *profile.Profile {
	block := func(at profile.Addr, n int32, count profile.EventID) profile.Block {
		return profile.Block{Start: at, End: at + 16, Last: at + 8, Instructions: n, Count: count}
	}
	p := &profile.Profile{
		Program:  profile.Program{Path: "/nowhere/skewed", Args: []string{}},
		Run:      profile.Run{Backend: "native", WallNS: 1e9, Cores: 8},
		Coverage: profile.Coverage{Functions: 1, FunctionsTotal: 1, Instructions: 30, InstructionsTotal: 30},
		Graph: profile.Graph{
			Functions: []profile.Function{{Name: "work", Entry: 0x1000, End: 0x1030, N: 3}},
			Blocks:    []profile.Block{block(0x1000, 1000, 0), block(0x1010, 3000, 2), block(0x1020, 1, 3)},
			Edges: []profile.Edge{
				{From: profile.NoBlock, To: 0, Kind: profile.Start, Count: 0},
				{From: 0, To: 1, Kind: profile.Fall, Site: 0x1008, Count: 2},
				{From: 0, To: 2, Kind: profile.Taken, Site: 0x1008, Count: 1},
				{From: 1, To: 2, Kind: profile.Fall, Count: 2},
				{From: 2, To: profile.NoBlock, Kind: profile.Exit, Count: 3},
			},
		},
		Events: []profile.Event{
			{Kind: profile.BlockEntered, Block: 0, Edge: -1, Addr: 0x1000, Superior: profile.NoEvent},
			{Kind: profile.EdgeTaken, Block: 0, Edge: 2, Addr: 0x1008, Superior: profile.NoEvent},
			{Kind: profile.BlockEntered, Block: 1, Edge: -1, Addr: 0x1010, Superior: profile.NoEvent},
			{Kind: profile.BlockEntered, Block: 2, Edge: -1, Addr: 0x1020, Superior: profile.NoEvent},
		},
		Locations: []profile.Location{
			{Address: 0x1008, Frame: profile.Frame{File: "/nowhere/skewed.c", Line: 7, Column: 3, Function: "work"}},
			{Address: 0x1010, Frame: profile.Frame{File: "/nowhere/skewed.c", Line: 8, Column: 3, Function: "work"}},
			{Address: 0x2000, Frame: profile.Frame{File: "/nowhere/skewed.c", Line: 20, Column: 3, Function: "main"}},
		},
	}
	in := profile.Instance{Folded: 1, SpanNS: 9e8}
	for t := range profile.ThreadID(4) {
		p.Threads = append(p.Threads, profile.Thread{ID: t, EndNS: 1e9, CPUNS: 1e6})
		c := profile.Counts{Event: []profile.EventID{0, 1, 3}, N: []uint64{1, 1, 1}}
		if t == 3 {
			c = profile.Counts{Event: []profile.EventID{0, 2, 3}, N: []uint64{1, 1, 1}}
		}
		in.Parts = append(in.Parts, profile.Part{Thread: t, Site: 0x2000, Counts: c})
	}
	p.Sections = []profile.Section{{Kind: profile.Barrier, Site: 0x2000, Instances: []profile.Instance{in}}}
	return p
}

// fake is a backend that runs nothing.
type fake struct {
	got profiler.Config
	p   *profile.Profile
	err error
}

func (f *fake) run(_ context.Context, c profiler.Config) (*profile.Profile, error) {
	f.got = c
	return f.p, f.err
}

// profileWith runs the profile command on a fake backend.
func profileWith(f *fake, args ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	e := profileCommand{run: f.run}.do(context.Background(), &out, &err, args)
	status = fail(&err, e)
	return out.String(), err.String(), status
}

func TestProgramsThatCannotRun(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("plain", []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("here", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ program, want string }{
		{"./gone", "no such file"},
		{"no-such-program-anywhere", "not found in PATH; give its path"},
		{"here", "./here"},
		{dir, "is a directory"},
		{"./plain", "chmod +x"},
	} {
		f := &fake{p: skewed()}
		_, stderr, status := profileWith(f, "--", c.program)
		if status != exitFailed || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, want status 2 and one line with %q", c.program, status, stderr, c.want)
		}
		if f.got.Path != "" {
			t.Errorf("%s was run", c.program)
		}
	}
}

func TestProfileHandsTheProgramOver(t *testing.T) {
	t.Setenv("OMP_NUM_THREADS", "3")
	f := &fake{p: skewed()}
	stdout, stderr, status := profileWith(f, "--threads", "16", "--", "sh", "-n", "{threads}", "--t={threads}", "--", "-x")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if want := []string{"-n", "16", "--t=16", "--", "-x"}; !reflect.DeepEqual(f.got.Args, want) {
		t.Errorf("arguments %q, want %q", f.got.Args, want)
	}
	set := []string{}
	for _, e := range f.got.Env {
		if strings.HasPrefix(e, "OMP_NUM_THREADS=") {
			set = append(set, e)
		}
	}
	if !reflect.DeepEqual(set, []string{"OMP_NUM_THREADS=16"}) {
		t.Errorf("environment has %q, want OMP_NUM_THREADS=16 once", set)
	}
	if f.got.Stdin != os.Stdin || f.got.Stdout != os.Stdout || f.got.Stderr != os.Stderr {
		t.Error("the program's input and output are not its own")
	}
	if f.got.Progress != nil {
		t.Error("progress is asked for although standard error is no terminal")
	}
	if !filepath.IsAbs(f.got.Path) || filepath.Base(f.got.Path) != "sh" {
		t.Errorf("path %q, want the sh of PATH", f.got.Path)
	}
	if stdout != "" || !strings.Contains(stderr, "skewed.c:20") {
		t.Errorf("standard output %q, standard error %q: want the report on standard error", stdout, stderr)
	}
}

func TestWithoutThreadsTheEnvironmentIsInherited(t *testing.T) {
	f := &fake{p: skewed()}
	if _, stderr, status := profileWith(f, "sh"); status != 0 {
		t.Fatal(stderr)
	}
	if f.got.Env != nil {
		t.Errorf("environment %q, want it inherited", f.got.Env)
	}
}

func TestExitStatus(t *testing.T) {
	ended := func(r profile.Run) *profile.Profile {
		p := skewed()
		p.Run.ExitCode, p.Run.Signal = r.ExitCode, r.Signal
		return p
	}
	for _, c := range []struct {
		name   string
		p      *profile.Profile
		err    error
		args   []string
		status int
	}{
		{"imbalanced", skewed(), nil, nil, 0},
		{"below", skewed(), nil, []string{"--fail-above", "60"}, 0},
		{"above", skewed(), nil, []string{"--fail-above", "50"}, exitAbove},
		{"not propagated", ended(profile.Run{ExitCode: 7}), nil, nil, 0},
		{"propagated", ended(profile.Run{ExitCode: 7}), nil, []string{"--propagate"}, 7},
		{"signal", ended(profile.Run{Signal: "SIGSEGV"}), nil, []string{"--propagate"}, 128 + 11},
		{"terminated", ended(profile.Run{Signal: "SIGTERM"}), nil, []string{"--propagate"}, 128 + 15},
		{"propagated and above", skewed(), nil, []string{"--propagate", "--fail-above", "50"}, exitAbove},
		{"failed", nil, errors.New("trace sh: not permitted"), nil, exitFailed},
		{"failed half way", skewed(), errors.New("trace sh: lost"), nil, exitFailed},
	} {
		_, stderr, status := profileWith(&fake{p: c.p, err: c.err}, append(c.args, "sh")...)
		if status != c.status {
			t.Errorf("%s: status %d, want %d (%s)", c.name, status, c.status, stderr)
		}
		if c.p != nil && !strings.Contains(stderr, "skewed.c:20") {
			t.Errorf("%s: no report: %q", c.name, stderr)
		}
		if c.err != nil && !strings.Contains(stderr, "skewlens: "+c.err.Error()) {
			t.Errorf("%s: %q does not say %v", c.name, stderr, c.err)
		}
	}
}

func TestAFullDiskDoesNotLoseTheReport(t *testing.T) {
	_, stderr, status := profileWith(&fake{p: skewed()}, "--save", "/dev/full", "sh")
	if status != exitFailed || !strings.Contains(stderr, "skewed.c:20") || !strings.Contains(stderr, "skewlens: write /dev/full: no space left on device; make room") {
		t.Errorf("status %d, %q", status, stderr)
	}
	dir := t.TempDir()
	saved := filepath.Join(dir, "run.skew")
	if _, stderr, status := profileWith(&fake{p: skewed()}, "-o", "/dev/full", "--save", saved, "sh"); status != exitFailed || strings.Count(stderr, "\n") != 1 {
		t.Errorf("-o /dev/full: status %d, %q", status, stderr)
	}
	onlyFiles(t, dir, "run.skew")
}

func TestPlacesThatCannotBeWrittenAreRefusedBeforeTheRun(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"--save", filepath.Join(dir, "no", "x")}, {"-o", dir}} {
		f := &fake{p: skewed()}
		_, stderr, status := profileWith(f, append(args, "sh")...)
		if status != exitFailed || f.got.Path != "" || !strings.Contains(stderr, args[1]) {
			t.Errorf("%q: status %d, ran %q, %q", args, status, f.got.Path, stderr)
		}
	}
}
