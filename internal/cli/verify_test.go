package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

// verified profiles one of the planted programs with --verify, by run, and returns its
// report and what was written beside it.
func verified(t *testing.T, run func(context.Context, profiler.Config) (*profile.Profile, error), name string) *report.Report {
	t.Helper()
	dir := t.TempDir()
	prog, file := filepath.Join(dir, "prog"), filepath.Join(dir, "report.json")
	if err := runCompiler("gcc", "-O2", "-g", "-pthread", "-o", prog, filepath.Join("testdata/caches", name)); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	err := profileCommand{run: run}.do(t.Context(), &out, &said, []string{"--no-cache", "--events", "edges,cache", "--machine", "server64", "--verify", "--format", "json", "-o", file, "--", prog, "4"})
	if err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &report.Report{}
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// quietly is how a program runs whose output is nobody's business here.
func quietly(ctx context.Context, c profiler.Config) (*profile.Profile, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	c.Stdout = null
	return profiler.Run(ctx, c)
}

// TestVerify: in a run in which the misses that are the cause are hits the imbalance
// is gone; where the cause is a loop there is nothing to verify, and no second run.
func TestVerify(t *testing.T) {
	realBench(t, 1)
	runs := 0
	count := func(ctx context.Context, c profiler.Config) (*profile.Profile, error) {
		runs++
		return quietly(ctx, c)
	}
	r := verified(t, count, "footprints.c")
	if v := r.Sections[0].Verified; v == nil || v.Erased < 0.9 || v.Causes != 1 || runs != 2 {
		t.Errorf("%+v after %d runs, want most of the imbalance gone after 2", v, runs)
	}
	runs = 0
	for _, s := range verified(t, count, "longer.c").Sections {
		if s.Verified != nil || runs != 1 {
			t.Errorf("%s: %+v after %d runs", s.ID, s.Verified, runs)
		}
	}
}

// TestVerifyFails: a second run that does not come to an end, or executes something
// else, costs only what it would have said.
func TestVerifyFails(t *testing.T) {
	realBench(t, 1)
	runs := 0
	first := func(second func(context.Context, profiler.Config) (*profile.Profile, error)) func(context.Context, profiler.Config) (*profile.Profile, error) {
		runs = 0
		return func(ctx context.Context, c profiler.Config) (*profile.Profile, error) {
			if runs++; runs > 1 {
				return second(ctx, c)
			}
			return quietly(ctx, c)
		}
	}
	r := verified(t, first(func(context.Context, profiler.Config) (*profile.Profile, error) { return nil, errors.New("no memory") }), "footprints.c")
	if !warned(r.Warnings, "verify", "no memory") || r.Sections[0].Verified != nil {
		t.Errorf("%+v, %+v", r.Warnings, r.Sections[0].Verified)
	}
	r = verified(t, first(func(ctx context.Context, c profiler.Config) (*profile.Profile, error) {
		p, err := quietly(ctx, c)
		p.Run.Signal = "SIGINT"
		return p, err
	}), "footprints.c")
	if !warned(r.Warnings, "verify", "was ended by SIGINT") || r.Sections[0].Verified != nil {
		t.Errorf("%+v, %+v", r.Warnings, r.Sections[0].Verified)
	}
	r = verified(t, func(ctx context.Context, c profiler.Config) (*profile.Profile, error) {
		p, err := quietly(ctx, c)
		p.Run.Signal = "SIGTERM"
		return p, err
	}, "footprints.c")
	if !warned(r.Warnings, "verify", "from outside") || r.Sections[0].Verified != nil {
		t.Errorf("%+v, %+v", r.Warnings, r.Sections[0].Verified)
	}
	r = verified(t, first(func(ctx context.Context, c profiler.Config) (*profile.Profile, error) {
		c.Args = []string{"2"}
		return quietly(ctx, c)
	}), "footprints.c")
	if !warned(r.Sections[0].Warnings, "verify", "did not execute the same") || r.Sections[0].Verified != nil {
		t.Errorf("%+v, %+v", r.Sections[0].Warnings, r.Sections[0].Verified)
	}
}

func warned(list []report.Warning, code, part string) bool {
	for _, w := range list {
		if w.Code == code && strings.Contains(w.Message, part) {
			return true
		}
	}
	return false
}

// TestVerifyGivesInputTwice: both runs read the same, and only the first one's output
// is the user's.
func TestVerifyGivesInputTwice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte("skip\nall of it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := in.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = old }()
	o, c := profileFlags{verify: true}, profiler.Config{Stdout: os.Stdout, Stderr: os.Stderr, Analyses: "somewhere"}
	again, err := o.prepare(&c)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stdin.Close()
	next, end, err := again()
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	for _, f := range []*os.File{c.Stdin, next.Stdin} {
		if b, err := io.ReadAll(f); err != nil || string(b) != "all of it\n" {
			t.Errorf("read %q, %v", b, err)
		}
	}
	if next.Stdout.Name() != os.DevNull || next.Stderr.Name() != os.DevNull || next.Analyses != "" {
		t.Errorf("output goes to %s and %s, analyses to %q", next.Stdout.Name(), next.Stderr.Name(), next.Analyses)
	}
}

// TestVerifyNeedsCaches: there is nothing to erase without.
func TestVerifyNeedsCaches(t *testing.T) {
	if _, stderr, status := profileWith(&fake{p: skewed()}, "--verify", "--", "sh"); status != 1 || !strings.Contains(stderr, "add --events edges,cache") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
