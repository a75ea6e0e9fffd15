package lsp

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/report"
)

// TestHoverSaysWhatToDo: where the units of a section are known.
func TestHoverSaysWhatToDo(t *testing.T) {
	today := 2.5
	sec := &results.Section{Section: &report.Section{
		Units:    &report.Units{Message: "40 units (rounds of a_b.c:3), dealt in blocks; in turns: −37 %"},
		Forecast: []report.Forecast{{Threads: 4, Today: &today, Best: 3.98, How: "turns"}, {Threads: 8, Best: 7.4, How: "demand", Chunk: 4, Limited: true}},
	}}
	var b strings.Builder
	cures(&b, sec)
	for _, want := range []string{"dealt in blocks; in turns: −37 %", "| 4 | 2.5× | 3.98× | in turns |", "| 8 |  | 7.4× | on demand, 4 at a time |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	b.Reset()
	cures(&b, &results.Section{Section: &report.Section{}})
	if b.Len() > 0 {
		t.Errorf("%q of nothing", b.String())
	}
}
