package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/lsp"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// TestLauncher: what skewlens launches itself is reported on as a whole, and saved as
// one profile or by rank; launchers that are to be profiled are refused.
func TestLauncher(t *testing.T) {
	b := newMPIBench(t, "mpich")
	program := b.build(t, "domain.c")
	saved := filepath.Join(b.dir, "saved")
	for _, name := range []string{saved, filepath.Join(b.dir, "each") + "/"} {
		out := b.run(t, ownProgram(t), "profile", "--launcher", "mpirun.mpich -n", "--launcher", "2", "--save", name, "-o", "-", "--", program)
		if !strings.Contains(out, "2 ranks") || !strings.Contains(out, "domain.c:35") {
			t.Errorf("it says\n%s", out)
		}
		p, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.New(p, report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkPlantedRanks(t, r, "domain.c", 2)
	}
	if out, err := b.try(t, ownProgram(t), "profile", "--", "mpirun.mpich", "-n", "2", program); status(err) != exitUsage || !strings.Contains(err.Error(), "--launcher") {
		t.Errorf("to profile a launcher gives %v\n%s", err, out)
	}
	if _, err := b.try(t, ownProgram(t), "profile", "--launcher", "false", "--", program); status(err) != exitFailed || !strings.Contains(err.Error(), "false") {
		t.Errorf("a launcher that fails gives %v", err)
	}
}

// TestTargetWithLauncher: an editor's target that names a launcher is run by it; when it
// is cancelled nothing of any rank is left.
func TestTargetWithLauncher(t *testing.T) {
	b := newMPIBench(t, "mpich")
	for _, v := range b.env {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OMPI") || name == "XDG_CACHE_HOME" {
			t.Setenv(name, value)
		}
	}
	r := testRunner(t)
	target := lsp.Target{Name: "rows", Root: b.dir, Cwd: b.dir, Program: b.build(t, "rows.c"), Launcher: []string{"mpirun.mpich", "-n", "4"}}
	p, err := r.Profile(context.Background(), target, func(lsp.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Ranks) != 4 || len(p.Sections) == 0 || p.Sections[0].Kind != profile.MPI {
		t.Errorf("%d ranks, %d sections", len(p.Ranks), len(p.Sections))
	}

	target.Program = b.build(t, "forever.c")
	ctx, cancel := context.WithCancel(context.Background())
	works := false
	_, err = r.Profile(ctx, target, func(g lsp.Progress) {
		if works = works || g.Output == "at work"; works && strings.HasPrefix(g.Ranks, "4 ranks at work") {
			cancel()
		}
	})
	if ctx.Err() == nil {
		cancel()
		t.Fatalf("it was not cancelled: %v", err)
	}
	for deadline := time.Now().Add(time.Minute); len(processes(target.Program)) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("left are %q", processes(target.Program))
		}
	}
}

// processes are those whose command line names a program.
func processes(program string) (list []string) {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range found {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(program)) {
			list = append(list, string(b))
		}
	}
	return list
}
