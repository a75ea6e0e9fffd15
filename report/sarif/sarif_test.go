package sarif

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/skewlens/skewlens/report"
)

func x(v float64) *float64 { return &v }

// run is a report with causes of all sorts; shift moves its lines down.
func run(shift int) *report.Report {
	at := func(file string, line int, function string) report.Place {
		return report.Place{File: file, Line: line + shift, Column: 3, Function: function}
	}
	cause := func(rank int, leader string, gain float64, l report.Location) report.Cause {
		return report.Cause{Rank: rank, Kind: "control-flow", Leader: leader, Share: .5, Score: x(.9), Gain: &report.Gain{Fraction: gain, Seconds: x(1)}, Location: &l, Message: "threads differ."}
	}
	return &report.Report{
		Program: report.Program{Path: "/w/p", Args: []string{"8"}}, Run: report.Run{Threads: 8, ExitCode: 3},
		Warnings: []report.Warning{{Code: "shared-cores", Message: "8 threads shared 2 cores"}},
		Sections: []report.Section{
			{ID: "m.c:9", Kind: "barrier", Imbalance: x(.4), Location: &report.Location{Place: at("/w/src/m.c", 9, "main")}, Causes: []report.Cause{
				cause(1, "branch", .4, report.Location{Place: at("/w/src/a b.c", 5, "f")}),
				cause(2, "branch", .01, report.Location{Place: at("/w/src/a b.c", 7, "f")}),
				cause(3, "loop", .2, report.Location{Place: at("/usr/include/v.h", 70, "push"), InlinedAt: []report.Place{at("/w/src/m.c", 4, "g")}}),
				cause(4, "loop", .2, report.Location{Place: report.Place{Function: "h", Address: "0x10"}}),
			}},
			{ID: "n.c:1", Kind: "join", Negligible: true, Causes: []report.Cause{cause(1, "loop", .9, report.Location{Place: at("/w/n.c", 1, "n")})}},
		},
	}
}

// written is what was written, after the schema has found nothing wrong with it.
func written(t *testing.T, data []byte) []map[string]any {
	t.Helper()
	r, err := sarif.FromBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Fatalf("not as the schema has it: %v\n%s", err, data)
	}
	var raw struct {
		Runs []struct {
			Results []map[string]any
		}
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	return raw.Runs[0].Results
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, run(0), Options{Dir: "/w", Version: "1"}); err != nil {
		t.Fatal(err)
	}
	results := written(t, b.Bytes())
	if len(results) != 3 {
		t.Fatalf("%d results, want the three that stand on a line and matter", len(results))
	}
	for i, want := range []struct{ rule, level, uri, message string }{
		{"branch", "warning", "src/a%20b.c", "threads differ (section m.c:9, cause #1)"},
		{"branch", "note", "src/a%20b.c", "threads differ (section m.c:9, cause #2)"},
		{"loop", "warning", "src/m.c", "threads differ (section m.c:9, cause #3)"},
	} {
		text, _ := json.Marshal(results[i])
		for _, w := range []string{`"ruleId":"` + want.rule, `"level":"` + want.level, `"uri":"` + want.uri, want.message, "the section ends here"} {
			if !strings.Contains(string(text), w) {
				t.Errorf("result %d has no %s: %s", i, w, text)
			}
		}
	}
	for _, want := range []string{"shared-cores", `"exitCode": 3`, `"executionSuccessful": false`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

// Lines that were put above change no finding; what came, went and changed is told.
func TestWriteComparison(t *testing.T) {
	before, after := run(0), run(10)
	after.Sections[0].Causes[0].Gain.Fraction = .1
	after.Sections[0].Causes[2].Leader = "recursion"
	var b bytes.Buffer
	if err := WriteComparison(&b, report.Compare(before, after), Options{Dir: "/w"}); err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, r := range written(t, b.Bytes()) {
		states = append(states, r["baselineState"].(string))
	}
	if got := strings.Join(states, " "); got != "updated unchanged new absent" {
		t.Errorf("states %s", got)
	}
}

func TestNothingFound(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, &report.Report{Run: report.Run{Signal: "SIGSEGV"}}, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := written(t, b.Bytes()); len(got) != 0 || !strings.Contains(b.String(), "SIGSEGV") {
		t.Errorf("%v: %s", got, b.String())
	}
	if err := Write(broken{}, &report.Report{}, Options{}); err == nil {
		t.Error("a writer that fails was not heard")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }
