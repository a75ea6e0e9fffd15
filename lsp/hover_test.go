package lsp

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/lsp/internal/results"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
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

// TestHoverSaysWhatALineMisses: of any line of the run whose caches were simulated.
func TestHoverSaysWhatALineMisses(t *testing.T) {
	n, share, rate := uint64(1000), 0.5, 0.25
	r := &report.Report{Version: 1, Memory: &report.Memory{Lines: []report.MemoryLine{{
		Location: report.Place{File: "/w/a.c", Line: 3}, Cycles: 5000, Accesses: &n, Share: &share,
		Levels: []report.Level{{Level: "l1d", Misses: 250, Rate: &rate}},
	}}}}
	d := &workspace.Disk{}
	w := workspace.New(d).WithRoot(workspace.NewRoot(d, "/w"))
	v := &view{state: state{results: results.Set{}.With(results.New(results.Kept{Root: "/w", Cwd: "/w", Target: "t", Report: r}, w, w.Text))}}
	if got := v.about("/w/a.c", 2); len(got) != 1 || got[0] != "**Memory** · 1,000 accesses here, 50 % of all · L1D missed 25 % · 5,000 cycles, the whole run" {
		t.Errorf("%q", got)
	}
	if got := v.about("/w/a.c", 3); got != nil {
		t.Errorf("%q about another line", got)
	}
}

func TestSpark(t *testing.T) {
	for want, n := range map[string][]uint64{"▁▅█": {1, 64, 128}, "·█": {0, 3}, "··": {0, 0}} {
		if got := spark(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}
