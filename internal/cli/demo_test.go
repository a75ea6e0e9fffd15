package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
)

func TestDemoLists(t *testing.T) {
	out, _, status := skewlens("demo", "--list")
	for _, name := range testApp.examples.Names() {
		if !strings.Contains(out, name+" ") {
			t.Errorf("demo --list does not name %s", name)
		}
	}
	if status != 0 {
		t.Errorf("status %d", status)
	}
}

func TestDemoWithoutCompiler(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("PATH", tmp)
	t.Setenv("CC", "")
	_, stderr, status := skewlens("demo")
	if status != exitFailed || !strings.Contains(stderr, "apt install gcc") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %q, want 2 and what to install", status, stderr)
	}
	t.Setenv("CC", "no-such-compiler -O3")
	_, stderr, status = skewlens("demo")
	if status != exitFailed || !strings.Contains(stderr, "unset CC") {
		t.Errorf("status %d, %q, want 2 and what is wrong with CC", status, stderr)
	}
	onlyFiles(t, tmp)
}

// fakeCompiler touches the file after -o.
func fakeCompiler(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fakecc")
	script := "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n: > \"$2\"\n"
	if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", file+" -DANY")
}

// alike lets each thread take the branch: nobody has more work.
func alike(p *profile.Profile) {
	for i := range p.Sections[0].Instances[0].Parts {
		p.Sections[0].Instances[0].Parts[i].Counts = profile.Counts{Event: []profile.EventID{0, 1, 3}, N: []uint64{1, 1, 1}}
	}
}

func TestDemoShowsTheFixBeside(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	fakeCompiler(t)
	ran := []string{}
	d := demoCommand{examples: testApp.examples, run: func(_ context.Context, c profiler.Config) (*profile.Profile, error) {
		if _, err := os.Stat(c.Path); err != nil {
			t.Errorf("the program was not built: %v", err)
		}
		ran = append(ran, filepath.Base(c.Path)+" "+strings.Join(c.Args, " "))
		p := skewed()
		if strings.HasSuffix(c.Path, "-fixed") {
			alike(p)
		}
		return p, nil
	}}
	var out, stderr bytes.Buffer
	if err := d.do(context.Background(), &out, &stderr, []string{"--threads", "4", "root"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(ran, ", "); got != "root 4, root-fixed 4" {
		t.Errorf("ran %s", got)
	}
	for _, want := range []string{"skewed.c:7", "56.2 %", "0.0 %, balanced", "and with the fix, -DFIXED:", "as written", "fixed", "Predicted: up to 56.2 % less work", "Saved: 75.0 %"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demo does not show %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
	onlyFiles(t, tmp)
}

func TestDemoTableOfAll(t *testing.T) {
	fakeCompiler(t)
	ran := 0
	d := demoCommand{examples: testApp.examples, run: func(_ context.Context, c profiler.Config) (*profile.Profile, error) {
		ran++
		p := skewed()
		switch name := filepath.Base(c.Path); {
		case name == "balanced": // has no section at all
			p.Sections = nil
		case strings.HasSuffix(name, "-fixed"):
			alike(p)
		}
		return p, nil
	}}
	var out, stderr bytes.Buffer
	if err := d.do(context.Background(), &out, &stderr, []string{"--all"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	names := testApp.examples.Names()
	if len(lines) != 1+len(names) || ran != 2*len(names) {
		t.Fatalf("%d runs, and lines\n%s", ran, out.String())
	}
	if got := strings.Join(strings.Fields(lines[0]), " "); got != "example imbalance first cause share predicted first in whole units saved fixed" {
		t.Errorf("head %q", got)
	}
	for i, name := range names {
		want := name + " 56.2 % skewed.c:7 branch 100.0 % 56.2 % 0.0 % 75.0 % 0.0 %, balanced"
		if name == "balanced" {
			want = name + " no section was found"
		}
		if got := strings.Join(strings.Fields(lines[i+1]), " "); got != want {
			t.Errorf("row %q, want %q", got, want)
		}
	}
}

func TestDemoFails(t *testing.T) {
	fakeCompiler(t)
	fails := func(suffix string) error {
		d := demoCommand{examples: testApp.examples, run: func(_ context.Context, c profiler.Config) (*profile.Profile, error) {
			if strings.HasSuffix(c.Path, suffix) {
				return nil, errors.New("it failed")
			}
			return skewed(), nil
		}}
		var out, stderr bytes.Buffer
		return errors.Join(d.do(context.Background(), &out, &stderr, nil), d.do(context.Background(), &out, &stderr, []string{"--all"}))
	}
	for _, suffix := range []string{"", "-fixed"} {
		if err := fails(suffix); err == nil || err.Error() != "it failed\nit failed" {
			t.Errorf("programs called …%s fail: %v", suffix, err)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	if err := fails("x"); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("nowhere to build: %v", err)
	}
}

// What the demo says of savings, of sections that differ in what is known.
func TestSavings(t *testing.T) {
	seconds := func(s float64) *float64 { return &s }
	cause := func(fraction float64) []report.Cause {
		return []report.Cause{{Gain: &report.Gain{Fraction: fraction}}}
	}
	own, shared := report.Run{Cores: 8, Threads: 8}, report.Run{Cores: 2, Threads: 8}
	for _, c := range []struct {
		run     report.Run
		was, is report.Section
		want    string
	}{
		{own, report.Section{}, report.Section{}, "Nothing to save, and nothing was predicted.\n"},
		{own, report.Section{Critical: 100, Causes: cause(0.3)}, report.Section{Critical: 60}, "Predicted: up to 30.0 % less work on the busiest thread. Saved: 40.0 %.\n"},
		{own, report.Section{Critical: 100, Causes: []report.Cause{{}}}, report.Section{Critical: 60}, "Saved: 40.0 %.\n"},
		{own, report.Section{Critical: 100, Causes: cause(0.3), JointGain: &report.Gain{Fraction: 0.5}, CriticalBusyS: seconds(4), TimeS: seconds(5)},
			report.Section{Critical: 50, CriticalBusyS: seconds(3), TimeS: seconds(4)},
			"Predicted: up to 50.0 % less work on the busiest thread. Saved: 50.0 %, 25.0 % of its CPU time, 20.0 % of the section's seconds.\n"},
		{shared, report.Section{Critical: 100, Causes: []report.Cause{{}}, TimeS: seconds(5)}, report.Section{Critical: 60, TimeS: seconds(4)},
			"Saved: 40.0 %.\n(8 threads shared 2 cores here, so the section's seconds show little of it.)\n"},
	} {
		c.was.ID, c.is.ID = "a.c:1", "a.c:1"
		var out bytes.Buffer
		err := compareFix(&out, &report.Report{Run: c.run, Sections: []report.Section{c.was}}, &report.Report{Run: c.run, Sections: []report.Section{c.is}})
		if err != nil || !strings.HasPrefix(out.String(), "a.c:1 ") || !strings.Contains(out.String(), "unknown") || !strings.HasSuffix(out.String(), "\n\n"+c.want) {
			t.Errorf("%v, got\n%s\nwant %q", err, out.String(), c.want)
		}
	}
	var out bytes.Buffer
	if err := compareFix(&out, &report.Report{}, &report.Report{}); err != nil || out.Len() > 0 {
		t.Errorf("without sections: %v, %q", err, out.String())
	}
}

func TestDemoInterrupted(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	fakeCompiler(t)
	ctx, cancel := context.WithCancel(context.Background())
	d := demoCommand{examples: testApp.examples, run: func(context.Context, profiler.Config) (*profile.Profile, error) {
		cancel()
		return skewed(), nil
	}}
	var out, stderr bytes.Buffer
	if err := d.do(ctx, &out, &stderr, nil); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v, want that it was interrupted", err)
	}
	onlyFiles(t, tmp)
}
