package lsp

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/lsp/internal/wire"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// scaled is how the example scales: line 8 inflates, and one that is nowhere.
func scaled(dir string) *scaling.Report {
	f := func(x float64) *float64 { return &x }
	line := func(p report.Place) scaling.Line {
		return scaling.Line{Location: &report.Location{Place: p}, P: 4, W1S: 0.5, WPS: 1.05, InflationS: 0.55, LowS: 0.4, HighS: 0.7, Share: 0.8,
			Work: []scaling.LineWork{{P: 1, WorkS: 0.5}, {P: 2, WorkS: 0.7}, {P: 4, WorkS: 1.05}}}
	}
	return &scaling.Report{
		Version: 1, Program: report.Program{Path: filepath.Join(dir, "skewed")}, BaselineS: 1.8,
		Points: []scaling.Point{
			{P: 1, Runs: 5, TimeS: 2, Speedup: scaling.Speedups{Linear: 1, Maximal: f(0.9), Actual: f(0.9)}},
			{P: 4, Runs: 5, TimeS: 1, IdleS: f(1.1), WorkS: f(2.9), InflationS: f(0.9), Disturbed: true, Speedup: scaling.Speedups{Linear: 4, Maximal: f(3.6), Actual: f(1.8)}},
		},
		Lines: []scaling.Line{
			line(report.Place{File: filepath.Join(dir, "skewed.c"), Line: 8, Column: 5, Function: "work"}), line(report.Place{Address: "0x5"}),
		},
		Serial: []scaling.Serial{
			{Location: &report.Location{Place: report.Place{File: filepath.Join(dir, "skewed.c"), Line: 26, Function: "main"}}, P: 4, AloneS: 0.25, LowS: 0.2, HighS: 0.3, IdleS: 0.75},
		},
		Sections: []scaling.Section{
			{ID: "skewed.c:10", Kind: "barrier", Against: "one", Location: &report.Location{Place: report.Place{File: filepath.Join(dir, "skewed.c"), Line: 10, Function: "work"}}, Points: []scaling.SectionPoint{
				{P: 1, TimeS: 1.6, WorkS: f(1.6), IdleS: f(0), Speedup: scaling.Speedups{Linear: 1, Actual: f(1)}},
				{P: 4, TimeS: 0.8, WorkS: f(2), Speedup: scaling.Speedups{Linear: 4, Actual: f(2)}, Stack: []scaling.Component{
					{Name: "speedup", Speedup: 2, How: "its time"}, {Name: "inflation", Speedup: 0.01, How: "little"}, {Name: "idle-imbalance", Speedup: 1.5, How: "what the threads needed less"}, {Name: "idle-sync", Speedup: 0.49, How: "waited"}}}}},
			{ID: "outside", Kind: scaling.Outside, Points: []scaling.SectionPoint{{P: 1, TimeS: 1}}},
		},
		Warnings: []report.Warning{{Code: "disturbed", Message: "others were busy"}},
	}
}

// Where the speedup goes is a hint at the line, a lens, a hover and a report, and all
// of that is there after a restart.
func TestSpeedup(t *testing.T) {
	dir, cache := folder(t), filepath.Join(t.TempDir(), "cache")
	path := filepath.Join(dir, "skewed.c")
	opt := Options{Runner: &fake{t: t, dir: dir}, Cache: cache}
	c := serve(t, opt)
	c.begin(dir, nil)
	c.open(path)
	const whole = "speedup 1.80 of 4: idle 1.10, inflation 0.90, overhead 0.20 (disturbed)"
	if got := textual(c.command("skewlens.scaleTarget")); !strings.Contains(got, "skewed: "+whole) || !strings.Contains(got, `"outcome":"completed"`) {
		t.Errorf("it ended with %s", got)
	}
	shown := func() {
		t.Helper()
		got := c.await(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{
			"uri": string(workspace.FileURI(path)), "diagnostics": []any{
				map[string]any{"code": "inflation", "severity": 4.0, "range": map[string]any{"start": map[string]any{"line": 7.0}}},
				map[string]any{"code": "serial", "severity": 4.0, "range": map[string]any{"start": map[string]any{"line": 25.0}}}}}})
		if want := "Work here grows 2.10× from 1 to 4 threads: 550 ms more (400 ms to 700 ms), 80 % of what all lines grow"; !strings.Contains(textual(got), want) {
			t.Errorf("the hint is %s", textual(got))
		}
		if got := textual(c.call("textDocument/codeLens", docOf(path))); !strings.Contains(got, whole+" · just now") {
			t.Errorf("lenses: %s", got)
		}
		if want := "This runs alone for 250 ms (200 ms to 300 ms) on 4 cores: 750 ms of core time idle"; !strings.Contains(textual(got), want) {
			t.Errorf("the hint of what is serial is %s", textual(got))
		}
		at := docOf(path)
		at["position"] = wire.Object{"line": 25, "character": 4}
		if said := textual(c.call("textDocument/hover", at)); !strings.Contains(said, "**Serial** · skewed · speedup") || strings.Contains(said, "work here") {
			t.Errorf("hover: %s", said)
		}
		const here = "speedup 2.00 of 4 here: imbalance 1.50, synchronisation 0.49"
		if got := textual(c.call("textDocument/codeLens", docOf(path))); strings.Count(got, here) != 1 || strings.Contains(got, "outside") {
			t.Errorf("lenses: %s", got)
		}
		at["position"] = wire.Object{"line": 9, "character": 4}
		for _, want := range []string{"**Speedup** · skewed · speedup · barrier", "S" + here[1:] + ".", "| 1 | 1.60 s | 1.60 s | ", "| 4 | 800 ms | 2.00 s | ? | 2.00 |", "imbalance: what the threads needed less."} {
			if said := textual(c.call("textDocument/hover", at)); !strings.Contains(said, want) {
				t.Errorf("%q is not in the hover %s", want, said)
			}
		}
		at["position"] = wire.Object{"line": 7, "character": 6}
		got = c.call("textDocument/hover", at)
		for _, want := range []string{"**Inflation** · skewed · speedup", "| 1 | 0.50 s | ", "| 2 | 0.70 s | ", "| 4 | 1.05 s | ██████████ |", "The whole program: " + whole, "others were busy `disturbed`"} {
			if !strings.Contains(textual(got), want) {
				t.Errorf("%q is not in the hover %s", want, textual(got))
			}
		}
	}
	shown()
	if got := textual(c.command("skewlens.openReport", wire.Object{"embed": true, "format": "text"})); !strings.Contains(got, "speedup") || !strings.Contains(got, "skewed.c:8") {
		t.Errorf("the text is %s", got)
	}
	if got := textual(c.command("skewlens.openReport", wire.Object{"embed": true})); !strings.Contains(got, "svg") {
		t.Errorf("the page is %s", got)
	}
	if got := textual(c.command("skewlens.compare")); !strings.Contains(got, "only profiles can be compared") {
		t.Errorf("compared: %s", got)
	}
	quit(c)

	opt.Runner = nil
	c = serve(t, opt)
	c.begin(dir, nil)
	c.open(path)
	shown()
	at := docOf(path)
	at["range"] = wire.Object{"start": wire.Object{"line": 7, "character": 0}, "end": wire.Object{"line": 7, "character": 0}}
	at["context"] = wire.Object{"diagnostics": []any{}}
	got := textual(c.call("textDocument/codeAction", at))
	for _, want := range []string{"Measure speedup of skewed", "Open report of skewed · speedup", "Do not show this hint again", `kind = \"inflation\"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the actions %s", want, got)
		}
	}
}

// A profile and a study of the same target stand beside each other; a report is the
// profile's unless the study is asked for.
func TestSpeedupBesideAProfile(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "skewed.c")
	now := noon
	c := serve(t, Options{Runner: &fake{t: t, dir: dir}, Now: func() time.Time { now = now.Add(time.Second); return now }})
	c.begin(dir, nil)
	c.open(path)
	c.command("skewlens.profileTarget")
	c.command("skewlens.scaleTarget")
	got := textual(c.call("textDocument/codeLens", docOf(path)))
	for _, want := range []string{"imbalance 56 %", "speedup 1.80 of 4"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the lenses %s", want, got)
		}
	}
	for target, want := range map[string]string{"": "imbalance", "skewed": "imbalance", "skewed · speedup": "grows"} {
		got := textual(c.command("skewlens.openReport", wire.Object{"embed": true, "format": "text", "target": target}))
		if !strings.Contains(got, want) {
			t.Errorf("of %q: %s", target, got)
		}
	}
	if got := textual(c.command("skewlens.profileTarget", wire.Object{"uri": workspace.FileURI(path)})); !strings.Contains(got, "imbalance 56 %") {
		t.Errorf("profiled again: %s", got)
	}
}

// What fails is said.
func TestSpeedupFails(t *testing.T) {
	dir := folder(t)
	run := &fake{t: t, dir: dir, scale: func(context.Context, Target, func(Progress)) (*scaling.Report, error) {
		return nil, errors.New("no run succeeds")
	}}
	c := serve(t, Options{Runner: run})
	c.begin(dir, nil)
	if got := textual(c.command("skewlens.scaleTarget")); !strings.Contains(got, `"failed"`) || !strings.Contains(got, "no run succeeds") {
		t.Errorf("it ended with %s", got)
	}
	run.scale = func(context.Context, Target, func(Progress)) (*scaling.Report, error) { return nil, nil }
	if got := textual(c.command("skewlens.scaleTarget")); !strings.Contains(got, "the runs brought no report") {
		t.Errorf("it ended with %s", got)
	}
	run.scale = func(context.Context, Target, func(Progress)) (*scaling.Report, error) {
		r := scaled(dir)
		r.Points[1].Speedup.Actual, r.Lines = nil, nil
		return r, nil
	}
	if got := textual(c.command("skewlens.scaleTarget")); !strings.Contains(got, "speedup not known") {
		t.Errorf("it ended with %s", got)
	}
	run.scale = func(context.Context, Target, func(Progress)) (*scaling.Report, error) {
		r, low, high, less := scaled(dir), 1.2, 2.4, -0.3
		r.Points[1].Low, r.Points[1].High = &scaling.Speedups{Actual: &low}, &scaling.Speedups{Actual: &high}
		r.Points[1].InflationS = &less
		return r, nil
	}
	if got := textual(c.command("skewlens.scaleTarget")); !strings.Contains(got, "speedup 1.80 (1.20 to 2.40) of 4: idle 1.10, inflation −0.30, overhead 0.20") {
		t.Errorf("it ended with %s", got)
	}
}
