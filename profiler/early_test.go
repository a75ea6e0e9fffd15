package profiler_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// watchdog ends the program of a test that hangs, and so the test, until it is
// called off.
func watchdog(t testing.TB) (ctx context.Context, off func()) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	return ctx, func() {
		t.Helper()
		if ctx.Err() != nil {
			t.Error("it hung, and was killed")
		}
		cancel()
	}
}

// ran is what a program did under the profiler: what it wrote, and its profile.
func ran(t *testing.T, c profiler.Config) (output string, p *profile.Profile, err error) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c.Stdin, c.Stdout, c.Stderr = file, file, file
	ctx, off := watchdog(t)
	defer off()
	p, err = profiler.Run(ctx, c)
	text, readErr := os.ReadFile(file.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), p, err
}

// early builds testdata/early.c, with the library or without it.
func early(t *testing.T) (needs, alone, library string) {
	library = filepath.Join(t.TempDir(), "libearly.so")
	if err := os.Rename(proctest.Build(t, "gcc", "-O1", "-g", "-fPIC", "-shared", "-pthread", filepath.Join("testdata", "libearly.c")), library); err != nil {
		t.Fatal(err)
	}
	prog := []string{"-O1", "-g", "-pthread", filepath.Join("testdata", "early.c")}
	needs = proctest.Build(t, "gcc", append(prog, "-Wl,--no-as-needed", library, "-Wl,-rpath,"+filepath.Dir(library))...)
	return needs, proctest.Build(t, "gcc", prog...), library
}

// TestEarly: constructors of libraries, needed or preloaded, start threads,
// children and programs before the program's entry. All of them go on, the program
// does what it does alone, and its threads are counted.
func TestEarly(t *testing.T) {
	needs, alone, library := early(t)
	for _, what := range []string{"joined", "sleeper", "worker", "busy sleeper", "creator", "forker", "sender", "fork-exits", "fork-goes-on", "vfork", "spawn",
		"system", "again", "system vfork worker creator sleeper", "creator forker sender busy worker"} {
		for name, c := range map[string]profiler.Config{
			"needed":    {Path: needs, Env: append(os.Environ(), "EARLY="+what)},
			"preloaded": {Path: alone, Env: append(os.Environ(), "EARLY="+what, "LD_PRELOAD="+library)},
			"all":       {Path: alone, Env: append(os.Environ(), "EARLY="+what, "LD_PRELOAD="+library), Libraries: []string{"libearly*"}},
		} {
			t.Run(what+"/"+name, func(t *testing.T) {
				native := exec.Command(c.Path)
				native.Env = c.Env
				want, _ := native.CombinedOutput()
				got, p, err := ran(t, c)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) || p.Run.ExitCode != 5 || p.Run.Signal != "" {
					t.Errorf("exit code %d, signal %q, wrote\n%s\nalone it writes\n%s", p.Run.ExitCode, p.Run.Signal, got, want)
				}
				met := slices.ContainsFunc(p.Sections, func(s profile.Section) bool { return s.Kind == profile.Barrier && len(s.Instances) == 20 })
				if !met {
					t.Errorf("20 meetings are not in %d sections", len(p.Sections))
				}
				for _, w := range p.Warnings {
					// A thread that is killed while it waits for what it has made by vfork may be such.
					if w.Code == "inconsistent-counts" && !strings.HasSuffix(w.Message, "first forker") {
						t.Error(w.Message)
					}
				}
			})
		}
	}
}

// TestEarlyCounts: what a thread does that was there before is counted from the
// program's entry on, but for the function that it was in.
func TestEarlyCounts(t *testing.T) {
	needs, _, library := early(t)
	_, p, err := ran(t, profiler.Config{Path: needs, Env: append(os.Environ(), "EARLY=worker")})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Threads) != 4 || len(p.Program.Libraries) != 1 || p.Program.Libraries[0].Path != library {
		t.Fatalf("%d threads, libraries %v", len(p.Threads), p.Program.Libraries)
	}
	want := perFunction(run(t, needs))[1]["work"]
	found := 0
	for _, m := range perFunction(p) {
		if n := m["early_work"]; n > 0 {
			found++
			if n < 500 || n > 1500 { // 100 rounds
				t.Errorf("%d instructions of the worker", n)
			}
		}
		if m["work"] == want {
			found++
		}
		if m["worker"] != 0 {
			t.Error("what the worker was in when the program began cannot be known")
		}
	}
	if found != 2 {
		t.Errorf("the worker, or the first thread's work, is missing: %v", perFunction(p))
	}
	held := slices.ContainsFunc(p.Coverage.Skipped, func(s profile.Skipped) bool {
		return s.Function == "worker" && strings.Contains(s.Reason, "before the program began")
	})
	told := slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return strings.Contains(w.Message, "started 1 threads before") })
	if !held || !told {
		t.Errorf("nobody says so: %v, %v", p.Coverage.Skipped, p.Warnings)
	}
}

// TestEndedEarly: a program that never comes to its entry, with a thread beside,
// ends by a signal.
func TestEndedEarly(t *testing.T) {
	needs, _, _ := early(t)
	watched, off := watchdog(t)
	defer off()
	ctx, cancel := context.WithCancel(watched)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		r.Read(make([]byte, 1)) // the constructor has come so far
		cancel()
	}()
	_, err = profiler.Run(ctx, profiler.Config{Path: needs, Env: append(os.Environ(), "EARLY=vfork sleeper for ever"), Stderr: w})
	w.Close()
	if err == nil || !strings.Contains(err.Error(), "SIGTERM") {
		t.Errorf("error %v", err)
	}
}
