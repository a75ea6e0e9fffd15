package cli

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/internal/doctor"
	"github.com/skewlens/skewlens/internal/examples"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/text"
)

// realBench has the examples and the real profiler.
func realBench(t *testing.T, threads int) *bench {
	t.Helper()
	cc, err := examples.FindCompiler()
	if err == nil {
		err = doctor.TryTrace()
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("real programs cannot be profiled here: %v", err)
		}
		t.Skipf("real programs cannot be profiled here: %v", err)
	}
	b := &bench{dir: t.TempDir(), cc: cc, threads: threads, percent: 2, run: profiler.Run, stderr: &bytes.Buffer{}}
	if err := testApp.examples.Unpack(b.dir); err != nil {
		t.Fatal(err)
	}
	return b
}

// marked finds the line with a mark, and its text.
func marked(t *testing.T, name, mark string) (int, string) {
	t.Helper()
	text, err := testApp.examples.Source(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(text, "\n") {
		if strings.Contains(l, "/* "+mark+" */") {
			return i + 1, l
		}
	}
	return 0, ""
}

// The promise of the whole program: the planted line comes first, the fixed
// program is balanced, and what was predicted is what the fix saves.
func TestPlantedCausesAreFound(t *testing.T) {
	b := realBench(t, 8)
	for _, name := range testApp.examples.Names() {
		t.Run(name, func(t *testing.T) {
			before, err := b.measure(context.Background(), name, name)
			if err != nil {
				t.Fatal(err)
			}
			after, err := b.measureFixed(context.Background(), name)
			if err != nil {
				t.Fatal(err)
			}
			checkFound(t, name, before, after)
			checkPath(t, before)
			checkPath(t, after)
			if t.Failed() {
				var both bytes.Buffer
				text.Write(&both, before, text.Options{})
				text.Write(&both, after, text.Options{})
				t.Log(both.String())
			}
		})
	}
}

// checkPath: of a real program it is known who created and joined its threads, and
// the critical path is what its sections and the rest of it make, within the run.
func checkPath(t *testing.T, r *report.Report) {
	t.Helper()
	c := r.CriticalPath
	if c == nil {
		t.Error("there is no critical path")
		return
	}
	sum := c.OutsideS
	for i := range r.Sections {
		if on := r.Sections[i].OnPath; on != nil {
			sum += on.Seconds
		}
	}
	if c.Seconds > *r.Run.WallS*1.00001 || c.BusyS > c.Seconds || math.Abs(sum-c.Seconds) > 1e-4*c.Seconds {
		t.Errorf("a critical path of %v s, %v of it busy, its sections make %v, in a run of %v s", c.Seconds, c.BusyS, sum, *r.Run.WallS)
	}
	if created := c.Tasks.Create; created < 3 || c.Tasks.Join < 1 || c.Parallelism > float64(created+1) {
		t.Errorf("tasks %+v, parallelism %v", c.Tasks, c.Parallelism)
	}
}

func checkFound(t *testing.T, name string, before, after *report.Report) {
	worst, ok := report.Compare(before, after).Worst()
	if !ok {
		t.Fatal("no section was found")
	}
	was, is := worst.Before, worst.After
	if line, _ := marked(t, name, "SECTION"); was.Location == nil || was.Location.Line != line {
		t.Errorf("the first section is %s, want line %d", was.ID, line)
	}
	if !is.Balanced {
		t.Errorf("the fixed program has imbalance %s", imbalance(is))
	}
	planted, text := marked(t, name, "PLANTED")
	if planted == 0 {
		if !was.Balanced || len(was.Causes) > 0 {
			t.Errorf("a balanced program has imbalance %s and %d causes", imbalance(was), len(was.Causes))
		}
		return
	}
	if was.Balanced || len(was.Causes) == 0 {
		t.Fatalf("imbalance %s, no cause", imbalance(was))
	}
	c := &was.Causes[0]
	// A start is a function, which begins on the planted line or just below it.
	found := c.Location.Line == planted || c.Leader == "start" && strings.Contains(text, c.Location.Function+"(")
	if filepath.Base(c.Location.File) != name+".c" || !found {
		t.Errorf("the first cause is %s, want line %d: %s", c.Location.Short(), planted, text)
	}
	saved := 1 - float64(is.Critical)/float64(was.Critical)
	if was.JointGain == nil || math.Abs(was.JointGain.Fraction-saved) > 0.02 {
		t.Errorf("predicted gain %+v, the fix saves %.3f", was.JointGain, saved)
	}
}

// What the target does with its input, output and status is its own.
func TestTheTargetKeepsItsOwn(t *testing.T) {
	b := realBench(t, 1)
	dir := b.dir
	source := "#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 7; }\n"
	if err := os.WriteFile(filepath.Join(dir, "cat.c"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := b.cc.Build(context.Background(), dir, "cat", "cat"); err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte("one\ntwo\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	stdin, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	wasIn, wasOut := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = stdin, stdout
	_, stderr, status := skewlens("profile", "--propagate", "--", filepath.Join(dir, "cat"))
	os.Stdin, os.Stdout = wasIn, wasOut
	if status != 7 || !strings.Contains(stderr, "exit status 7") {
		t.Errorf("status %d, %q, want 7", status, stderr)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != "one\ntwo\n" {
		t.Errorf("output %q, %v", got, err)
	}
}

func TestFilesThatAreNoPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"script": "#!/bin/sh\n", "empty": "", "text": "hello", "cut": "\x7fELF\x02\x01\x01"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		_, stderr, status := skewlens("profile", "--", file)
		if status != exitFailed || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, file) {
			t.Errorf("%s: status %d, %q, want status 2 and one line that names the file", name, status, stderr)
		}
	}
}
