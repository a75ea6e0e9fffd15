package text

import (
	"errors"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func TestWriteComparison(t *testing.T) {
	imbalance, seconds := .5, 2.0
	run := func(id string, cores int) *report.Report {
		return &report.Report{
			Program: report.Program{Path: "/w/p", Args: []string{"8", "a\x1bb"}}, Run: report.Run{Threads: 8, Cores: cores, WallS: &seconds},
			Sections: []report.Section{{ID: id, Imbalance: &imbalance, TimeS: &seconds, Causes: make([]report.Cause, 2)}, {ID: "open"}},
		}
	}
	var b strings.Builder
	if err := WriteComparison(&b, report.Compare(run("m.c:1", 2), run("n.c:1", 2))); err != nil {
		t.Fatal(err)
	}
	want := `before   /w/p 8 a�b · 8 threads · 2.00 s
after    /w/p 8 a�b · 8 threads · 2.00 s
doubt    8 threads shared 2 cores: a section's time shows little of what its busiest thread saved [shared-cores]

section  imbalance before  after  time before   after  causes before  after
m.c:1                50 %      –       2.00 s       –              2      –  gone
open                    ?      ?            ?       ?              0      0  unclear
n.c:1                   –   50 %            –  2.00 s              –      2  new
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := WriteComparison(&b, report.Compare(&report.Report{}, &report.Report{})); err != nil || !strings.Contains(b.String(), "neither run has") {
		t.Errorf("%v: %s", err, b.String())
	}
	if err := WriteComparison(failing{}, report.Compare(run("m", 8), run("m", 8))); err == nil {
		t.Error("a writer that fails was not heard")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
