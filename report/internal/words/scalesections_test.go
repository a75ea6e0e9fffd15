package words

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

func TestScaledSections(t *testing.T) {
	s := &scaling.Section{ID: "a.c:7#2", Kind: "barrier", Location: &report.Location{Place: report.Place{File: "/src/a.c", Line: 7, Function: "f"}}, Points: []scaling.SectionPoint{
		{P: 1, Instances: 3, TimeS: .5, WorkS: f(.5), IdleS: f(0), InflationS: f(0), Speedup: scaling.Speedups{Linear: 1, Actual: f(1)}, Stack: []scaling.Component{{Name: "speedup", Speedup: 1}}},
		{P: 4, Instances: 3, TimeS: .25, TimeSD: f(.01), Disturbed: true, Speedup: scaling.Speedups{Linear: 4, Actual: f(2), IdleSpecific: f(3)},
			Low: &scaling.Speedups{Actual: f(1.9)}, High: &scaling.Speedups{Actual: f(2.1)},
			Stack: []scaling.Component{{Name: "idle-sync", Speedup: .5}, {Name: "speedup", Speedup: 2}, {Name: "idle-imbalance", Speedup: 1.5}, {Name: "inflation", Speedup: -.01}}},
		{P: 8, TimeS: .2},
	}}
	p := Paths{Dir: "/src"}
	if got := p.ScaledSection(s); got != "a.c:7#2 f · barrier" {
		t.Error(got)
	}
	if got := p.ScaledSection(&scaling.Section{ID: scaling.Outside, Kind: scaling.Outside}); got != "outside of sections" {
		t.Error(got)
	}
	if got, want := joined(SectionTable(s)), "cores,time, ms,work,idle,inflation,idle-spec.,infl.-spec.,actual|1,500,500,0.00,0.00,?,?,1.00|disturbed 4,250 ± 10.0,?,?,?,3.00,?,2.00|8,200,?,?,?,?,?,?"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := SectionStack(s), "speedup 2.00 of 4 (99 %: 1.90 to 2.10): imbalance (less to do than the slowest thread) 1.50, synchronisation (the slowest thread waits, too) 0.50"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s.Against = "turns"; !strings.HasPrefix(SectionStack(s), "speedup 2.00 of 4 (99 %: 1.90 to 2.10) over its threads by turns on 1 core: ") {
		t.Error(SectionStack(s))
	}
	s.Points[1].Stack = []scaling.Component{{Name: "work", Speedup: 3.99}, {Name: "idle", Speedup: .01}}
	if got := SectionStack(s); got != "of 4 cores, 3.99 worked" {
		t.Error(got)
	}
	if s.Points = s.Points[:1]; SectionStack(s) != "" {
		t.Error("a stack on one core")
	}
}

func TestRecorded(t *testing.T) {
	r := &scaling.Report{}
	if Recorded(r) != "" {
		t.Error("nothing was recorded")
	}
	r.Recorded = []scaling.Recordings{{P: 1, Runs: 3}}
	if got := Recorded(r); got != "sections, in 3 more runs of each that were recorded" {
		t.Error(got)
	}
	r.Recorded = []scaling.Recordings{{P: 1, Runs: 3, Slowdown: f(1.02)}, {P: 2, Runs: 3, Slowdown: f(.991)}}
	if got := Recorded(r); !strings.Contains(got, "took 0.99 to 1.02× the CPU time") {
		t.Error(got)
	}
}

func TestTogether(t *testing.T) {
	r := &scaling.Report{}
	if Together(r) != "" || byTurns(&scaling.Line{}) != "" {
		t.Error("nothing took turns")
	}
	r.Together = &scaling.Together{P: 2, TurnsS: 1, BesideS: 2, LowS: 1.5, HighS: 2.5, ThreadsS: .1}
	if got := Together(r); !strings.Contains(got, "work is 1.00 s: 2.00 s (99 %: 1.50 s to 2.50 s) of the inflation comes from running at the same time") || strings.Contains(got, "without that") {
		t.Error(got)
	}
	if r.Together.ThreadsS = 1; !strings.Contains(Together(r), "1.00 s is there without that") {
		t.Error(Together(r))
	}
	r.Together.Uncertain, r.Together.LowS = true, -.5
	if got := Together(r); !strings.Contains(got, "comes from running at the same time is not certain (99 %: −0.50 s to 2.50 s)") {
		t.Error(got)
	}
	if got := byTurns(&scaling.Line{WPS: 2, TurnsS: f(1)}); got != "; 1.00 s when as many threads take turns on one core" {
		t.Error(got)
	}
}

func TestCaches(t *testing.T) {
	for want, c := range map[string]*scaling.Caches{
		"": nil,
		"simulated caches miss no more on 4 cores than on one": {P: 4},
		"simulated caches miss more on 4 cores than on one, modelled: 0.50 s for lines that others take away, 2.00 s for want of room in the last cache": {P: 4, LinesS: .5, SharedS: 2},
	} {
		if got := Caches(&scaling.Report{Caches: c}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
