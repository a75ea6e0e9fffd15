package words

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func TestComparedInWords(t *testing.T) {
	half, seconds := .5, 2.0
	run := func(id string, threads int) *report.Report {
		return &report.Report{
			Program: report.Program{Path: "/w/p", Args: []string{"a\x1b"}}, Run: report.Run{Threads: threads, Cores: 2, WallS: &seconds},
			Sections: []report.Section{{ID: id, Imbalance: &half, TimeS: &seconds}, {ID: "open"}},
		}
	}
	c := report.Compare(run("m.c:1", 4), run("n.c:1", 8))
	var rows []string
	for _, r := range Compared(c) {
		rows = append(rows, strings.Join(r, "|"))
	}
	want := "section|imbalance before|after|time before|after|causes before|after|\nm.c:1|50 %|–|2.00 s|–|0|–|gone\nopen|?|?|?|?|0|0|unclear\nn.c:1|–|50 %|–|2.00 s|–|0|new"
	if got := strings.Join(rows, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var lines []string
	for _, r := range Runs(c) {
		lines = append(lines, r[0]+": "+r[1])
	}
	want = "before: /w/p a\ufffd · 4 threads · 2.00 s\nafter: /w/p a\ufffd · 8 threads · 2.00 s\nchanged: threads: 4 → 8\ndoubt: 4 threads shared 2 cores: a section's time shows little of what its busiest thread saved [shared-cores]"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
