package cli

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// scaledProgram builds a program of testdata/scale, times it with one thread and with
// two, and returns the report.
func scaledProgram(t *testing.T, name string, args ...string) *scaling.Report {
	t.Helper()
	return scaledAgainst(t, "", name, args...)
}

// scaledAgainst is scaledProgram, where the baseline is the program with other
// arguments; "": there is none.
func scaledAgainst(t *testing.T, baseline, name string, args ...string) *scaling.Report {
	t.Helper()
	if cores, _, err := profiler.Cores(); err != nil || cores < 2 {
		t.Skipf("%d cores are not enough to see what two threads do to each other (%v)", cores, err)
	}
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed; ./test installs it")
	}
	prog := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command(cc, "-O2", "-g", "-pthread", filepath.Join("testdata", "scale", name+".c"), "-o", prog).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	command := []string{"scale", "--threads", "1,2", "--format", "json", "-o", "-"}
	if baseline != "" {
		command = append(command, "--baseline", prog+" "+baseline)
	}
	out, stderr, status := skewlens(append(append(command, "--", prog, "{threads}"), args...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	r := &scaling.Report{}
	if err := json.Unmarshal([]byte(out), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// doubtful reports whether the machine was too busy to judge the program, as the
// report itself says.
func doubtful(r *scaling.Report) bool {
	return slices.ContainsFunc(r.Points, func(p scaling.Point) bool { return p.Disturbed || p.IdleS == nil || p.InflationS == nil })
}

// holds fails a test, unless the report says that it cannot be trusted.
func holds(t *testing.T, r *scaling.Report, ok bool, why string) {
	t.Helper()
	switch {
	case ok:
	case doubtful(r):
		t.Skipf("other programs ran beside it, as the report says (%s): %+v", why, r.Warnings)
	default:
		b, _ := json.MarshalIndent(r, "", " ")
		t.Errorf("%s:\n%s", why, b)
	}
}

// Half of an Amdahl program is serial: two cores idle, and work does not inflate.
func TestAmdahlIdles(t *testing.T) {
	r := scaledProgram(t, "amdahl", "100000000")
	p := &r.Points[1]
	ok := p.IdleS != nil && p.InflationS != nil && *p.IdleS > 3**p.InflationS && *p.IdleS > .2*p.TimeS && r.Main == "idle"
	holds(t, r, ok, "idle time does not dominate")
	named := len(r.Serial) > 0 && r.Serial[0].AloneS > .2*p.TimeS && slices.ContainsFunc(r.Serial[0].Location.InlinedAt, func(at report.Place) bool { return at.Function == "main" })
	holds(t, r, named, "the serial line is not named")
	if !strings.Contains(r.Notes[0].Message, "idle") && !doubtful(r) {
		t.Errorf("notes %+v", r.Notes)
	}
}

// Counters in one cache line inflate the work of the line that counts.
func TestFalselySharedCountersInflate(t *testing.T) {
	r := scaledProgram(t, "counters", "600000000")
	p := &r.Points[1]
	holds(t, r, p.IdleS != nil && p.InflationS != nil && *p.InflationS > *p.IdleS && *p.InflationS > .2*r.BaselineS, "inflation does not dominate")
	holds(t, r, len(r.Lines) > 0 && filepath.Base(r.Lines[0].Location.File) == "counters.c" && r.Lines[0].Location.Function == "count" && slices.Contains(markedLines(t, filepath.Join("scale", "counters.c"), "PLANTED"), r.Lines[0].Location.Line), "the line is not named")
}

// Where tasks are tiny, what it costs to make them is what the speedup is lost to.
func TestTinyTasksAreOverhead(t *testing.T) {
	r := scaledAgainst(t, "0 100000000", "tiny", "100000000")
	m := r.Points[1].Speedup.Maximal
	holds(t, r, m != nil && *m < 1 && r.Main == "overhead", "overhead does not dominate")
}

// A program that has nothing wrong has no line that inflates.
func TestCleanProgramHasNoHint(t *testing.T) {
	r := scaledProgram(t, "clean", "100000000")
	holds(t, r, len(r.Lines) == 0, "a line is named")
	p := &r.Points[1]
	holds(t, r, len(r.Serial) == 0, "a line is said to run alone")
	holds(t, r, p.IdleS != nil && p.InflationS != nil && *p.IdleS < .5*r.BaselineS && *p.InflationS < .5*r.BaselineS, "idle or inflated")
}

// Threads that queue for a lock idle, and the lock's line is named.
func TestLockConvoyWaits(t *testing.T) {
	r := scaledProgram(t, "convoy", "2000")
	p := &r.Points[1]
	holds(t, r, p.IdleS != nil && *p.IdleS > .3*p.TimeS && r.Main == "idle", "idle time does not dominate")
	if r.Waits == nil {
		holds(t, r, false, "no waits")
		return
	}
	ok := len(r.Waits.Lines) > 0 && r.Waits.Lines[0].Kind == "lock" && r.Waits.Lines[0].Location.Function == "work" && 2*r.Waits.Lines[0].Seconds > r.Waits.Total
	holds(t, r, ok, "the lock is not named")
}
