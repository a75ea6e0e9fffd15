package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report/scaling"
)

func TestScaleRefusesWhatIsWrong(t *testing.T) {
	for want, args := range map[string][]string{
		"no program to time":                  {"scale"},
		"--format pprof is not known":         {"scale", "--format", "pprof", "--", "true"},
		"--runs 0: give":                      {"scale", "--runs", "0", "--", "true"},
		"--warmup -1: give":                   {"scale", "--warmup", "-1", "--", "true"},
		"want numbers as 1,2,4":               {"scale", "--threads", "1,x", "--", "true"},
		"want NAME=VALUE":                     {"scale", "--env", "=3", "--", "true"},
		"leave them out of --threads, or add": {"scale", "--threads", "60000", "--", "true"},
	} {
		_, stderr, status := skewlens(args...)
		if status != exitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q", args, status, stderr, want)
		}
	}
	for want, args := range map[string][]string{
		"not found in PATH": {"scale", "--", "no-such-program"},
		"write /no/such/":   {"scale", "-o", "/no/such/file", "--", "true"},
		"exit status 1":     {"scale", "--warmup", "0", "--", "false"},
	} {
		if _, stderr, status := skewlens(args...); status != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}

// pretended runs of an Amdahl program of half a second.
func pretended(_ context.Context, c profiler.ScaleConfig) (*profiler.ScaleRuns, error) {
	r := &profiler.ScaleRuns{At: map[int][]profiler.TimedRun{}}
	for _, p := range c.Threads {
		for i := range c.Runs {
			cpu := 500*time.Millisecond + time.Duration(i)*time.Millisecond
			r.At[p] = append(r.At[p], profiler.TimedRun{Wall: cpu/2 + cpu/2/time.Duration(p), CPU: cpu, Seen: 1})
		}
	}
	if c.Baseline != nil {
		r.Baseline = []profiler.TimedRun{{Wall: 400 * time.Millisecond, CPU: 400 * time.Millisecond, Seen: 1}}
	}
	if c.Elision != nil {
		r.Elision = r.Baseline
	}
	return r, nil
}

// pretend runs the command with runs that never were.
func pretend(t *testing.T, run func(context.Context, profiler.ScaleConfig) (*profiler.ScaleRuns, error), args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	if e := (scaleCommand{run: run}).do(context.Background(), &out, &err, args); e != nil {
		t.Fatal(e)
	}
	return out.String(), err.String()
}

func TestScaleReports(t *testing.T) {
	_, text := pretend(t, pretended, "--threads", "2", "--", "true", "{threads}")
	for _, want := range []string{"true {threads}\n", "5 runs of each", "speedup 1.33 of 2", "idle 0.251 s (33", "[no-baseline]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "[threads-fixed]") {
		t.Errorf("{threads} is there:\n%s", text)
	}
	out, _ := pretend(t, pretended, "--threads", "4,1,4", "--oversubscribe", "--format", "json", "-o", "-", "--baseline", "./seq", "--elision", "./one", "--", "true")
	var r scaling.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, w.Code)
	}
	if len(r.Points) != 2 || r.Points[1].P != 4 || r.BaselineS != .4 || r.Baseline != "./seq" || *r.ElisionS != .4 || !slices.Contains(codes, "threads-fixed") {
		t.Errorf("%s", out)
	}
	if over := runtime.NumCPU() < 4; slices.Contains(codes, "oversubscribed") != over || r.Points[1].Oversubscribed != over {
		t.Errorf("oversubscribed on %d cores: %v", runtime.NumCPU(), codes)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	pretend(t, pretended, "--threads", "2", "--format", "html", "-o", file, "--", "true", "{threads}")
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "<svg") {
		t.Errorf("%v: %.100s", err, b)
	}
}

// What was hard to measure is said.
func TestScaleDoubts(t *testing.T) {
	_, text := pretend(t, func(ctx context.Context, c profiler.ScaleConfig) (*profiler.ScaleRuns, error) {
		r, err := pretended(ctx, c)
		for i := range r.At[2] {
			r.At[2][i].Seen, r.At[2][i].Left = 0.5, true
		}
		return r, err
	}, "--threads", "2", "--env", "N={threads}", "--", "true")
	for _, want := range []string{"50 % of the CPU time only", "[short-threads]", "[left-running]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "[threads-fixed]") {
		t.Errorf("{threads} is in --env:\n%s", text)
	}
}

// What the machine does to the figures is said.
func TestScaleDoubtsTheMachine(t *testing.T) {
	s := scaleStudy{o: &scaleFlags{threads: []int{1, 8}}, words: []string{"x", "{threads}"}, cores: 8, whole: 4, quota: 2}
	var codes []string
	for _, w := range s.doubts(&profiler.ScaleRuns{}) {
		codes = append(codes, w.Code)
	}
	if got := strings.Join(codes, " "); got != "hardware-threads cpu-quota" {
		t.Errorf("doubts: %s", got)
	}
	was := runtime.GOMAXPROCS(0)
	if got := quota(was); got != 0 {
		t.Errorf("a quota of %d, and Go uses all %d cores", got, was)
	}
	t.Setenv("GOMAXPROCS", "")
	if got := quota(was + 1); got != was {
		t.Errorf("quota %d, want %d", got, was)
	}
	t.Setenv("GOMAXPROCS", "1")
	if got := quota(was + 1); got != 0 {
		t.Errorf("a quota of %d, and it was the user who said so", got)
	}
}

// What there is to say about samples.
func TestScaleDoubtsSamples(t *testing.T) {
	run := func(total int, kernel bool) []profiler.TimedRun {
		return []profiler.TimedRun{{CPU: time.Second, Samples: profiler.Samples{Total: total, Kernel: kernel}}}
	}
	place := func(string) profiler.SamplePlace { return profiler.SamplePlace{} }
	for want, l := range map[string]*sampledLines{
		"":                {runs: &profiler.ScaleRuns{}, p: 2},
		"few-samples":     {runs: &profiler.ScaleRuns{Place: place, At: map[int][]profiler.TimedRun{1: run(500, true), 2: run(50, true)}}, p: 2},
		"no-samples":      {runs: &profiler.ScaleRuns{Place: place, NoSamples: errors.New("forbidden")}, p: 2},
		"missing-samples": {runs: &profiler.ScaleRuns{Place: place, At: map[int][]profiler.TimedRun{1: run(500, true), 2: run(300, true)}}, p: 2},
	} {
		var codes []string
		for _, w := range l.doubts() {
			codes = append(codes, w.Code)
		}
		if got := strings.Join(codes, " "); got != want || (l.period() != nil) != l.sampled() {
			t.Errorf("doubts %q, want %q", got, want)
		}
	}
	l := sampledLines{runs: &profiler.ScaleRuns{Place: place, At: map[int][]profiler.TimedRun{1: run(500, true), 2: run(300, false)}}, p: 2}
	if w := l.doubts(); len(w) != 1 || !strings.Contains(w[0].Message, "perf_event_paranoid=1") {
		t.Errorf("%v", w)
	}
}

// Places are named as in other reports.
func TestScaleLocations(t *testing.T) {
	l := sampledLines{path: "/src/prog"}
	frame := profile.Frame{File: "/src/a.c", Line: 3, Function: "f"}
	for want, p := range map[string]profiler.SamplePlace{
		"a.c:3 ":                             {File: "/src/prog", Location: profile.Location{Frame: frame, InlinedAt: []profile.Frame{frame}}},
		"a.c:3 /src/lib.so":                  {File: "/src/lib.so", Location: profile.Location{Frame: frame}},
		"memcpy /lib/libc.so.6":              {File: "/lib/libc.so.6", Location: profile.Location{Frame: profile.Frame{Function: "memcpy"}}},
		"code without symbols ":              {File: "/src/prog"},
		"code of no file, or of the kernel ": {},
	} {
		at := l.location(p)
		if got := at.Short() + " " + at.Library; got != want || len(at.InlinedAt) != len(p.Location.InlinedAt) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The program's waits are made passive, unless the user has chosen.
func TestScaleEnvironment(t *testing.T) {
	t.Setenv("OMP_WAIT_POLICY", "active")
	o := scaleFlags{env: []string{"A=1", "KMP_BLOCKTIME=5", "A=2"}}
	env, passive := o.environment()
	if got := fmt.Sprint(passive); got != "[GOMP_SPINCOUNT=0]" {
		t.Errorf("made passive by %s", got)
	}
	for _, want := range []string{"OMP_WAIT_POLICY=active", "KMP_BLOCKTIME=5", "GOMP_SPINCOUNT=0", "A=2"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %v", want, env)
		}
	}
	if slices.Contains(env, "A=1") {
		t.Error("two settings of A")
	}
}

func TestScaleThreadsByDefault(t *testing.T) {
	for want, cores := range map[string]int{"[1]": 1, "[1 2]": 2, "[1 2 4 6]": 6, "[1 2 4 8]": 8} {
		var o scaleFlags
		fs := o.flags()
		if err := fs.Parse([]string{"--", "true"}); err != nil {
			t.Fatal(err)
		}
		if err := o.check(fs, cores); err != nil || fmt.Sprint(o.threads) != want {
			t.Errorf("%d cores: %v, %v, want %s", cores, o.threads, err, want)
		}
	}
}
