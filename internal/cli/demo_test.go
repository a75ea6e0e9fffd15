package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
)

func TestDemoLists(t *testing.T) {
	out, _, status := skewlens("demo", "--list")
	for _, name := range exampleNames() {
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

func TestDemoShowsTheMendBeside(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	fakeCompiler(t)
	ran := []string{}
	d := demoCommand{run: func(_ context.Context, c profiler.Config) (*profile.Profile, error) {
		if _, err := os.Stat(c.Path); err != nil {
			t.Errorf("the program was not built: %v", err)
		}
		ran = append(ran, filepath.Base(c.Path)+" "+strings.Join(c.Args, " "))
		p := skewed()
		if strings.HasSuffix(c.Path, "-fixed") {
			for i := range p.Sections[0].Instances[0].Parts { // each takes the branch: nobody has more work
				p.Sections[0].Instances[0].Parts[i].Counts = profile.Counts{Event: []profile.EventID{0, 1, 3}, N: []uint64{1, 1, 1}}
			}
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
	for _, want := range []string{"skewed.c:7", "56.2 %", "0.0 %, balanced", "Predicted: up to 56.2 % less work", "Saved: 75.0 %"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demo does not show %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
	onlyFiles(t, tmp)
}

func TestDemoInterrupted(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	fakeCompiler(t)
	ctx, cancel := context.WithCancel(context.Background())
	d := demoCommand{run: func(context.Context, profiler.Config) (*profile.Profile, error) {
		cancel()
		return skewed(), nil
	}}
	var out, stderr bytes.Buffer
	if err := d.do(ctx, &out, &stderr, nil); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v, want that it was interrupted", err)
	}
	onlyFiles(t, tmp)
}
