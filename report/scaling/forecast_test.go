package scaling

import (
	"math"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func number(x float64) *float64 { return &x }

// foreseeing is a profiled run on two cores: a section of 3 of the path's 4 seconds,
// that is dealt out among as many threads as one likes, and a second that is not.
func foreseeing() *report.Report {
	return &report.Report{
		CriticalPath: &report.CriticalPath{Seconds: 4.1, BusyS: 4, WorkS: 6.9, Warnings: []report.Warning{}},
		Sections: []report.Section{
			{OnPath: &report.OnPath{Seconds: 3}, Forecast: []report.Forecast{
				{Threads: 2, Today: number(2), Best: 2}, {Threads: 4, Today: number(3), Best: 4}, {Threads: 8, Today: number(4), Best: 8, Limited: true}}},
			{OnPath: &report.OnPath{}},
			{},
		},
	}
}

// TestForecast: at P the longest path decides, at more threads what its sections would
// be; what lies between that and what was measured adds up.
func TestForecast(t *testing.T) {
	r := New(study(t)) // the baseline takes 6 s, the program on one core 8
	if !r.Foresee(foreseeing(), 2) {
		t.Fatal("no forecast")
	}
	f := r.Forecast
	base, alone := 6.0/8, 7.0
	for i, want := range []Foreseen{{P: 2, Speedup: base * alone / 4.1}, {P: 4, Speedup: base * alone / 3.1, Best: number(base * alone / 2.6)}, {P: 8, Speedup: base * alone / 2.6, Best: number(base * alone / 1.85), Limited: true}} {
		got := f.Points[i]
		if got.P != want.P || math.Abs(got.Speedup-want.Speedup) > 1e-9 || got.Limited != want.Limited || (want.Best == nil) != (got.Best == nil) || want.Best != nil && math.Abs(*got.Best-*want.Best) > 1e-9 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if len(f.Points) != 3 {
		t.Errorf("%+v", f.Points)
	}
	for i, want := range []*float64{&base, &f.Points[0].Speedup, &f.Points[1].Speedup, &f.Points[2].Speedup} {
		if got := r.Points[i].Speedup.Forecast; got == nil || *got != *want {
			t.Errorf("at %d cores %v, want %v", r.Points[i].P, got, *want)
		}
	}
	p := f.Part
	if p == nil || p.P != 4 || p.Within || math.Abs(p.CoreS-p.InflationS-p.IdleS) > 1e-9 || math.Abs(p.CoreS-4*(r.Points[2].TimeS-6/p.Forecast)) > 1e-9 {
		t.Errorf("they part by %+v", p)
	}
}

// TestForecastIsBounded: no more than the cores can do.
func TestForecastIsBounded(t *testing.T) {
	r, run := New(study(t)), foreseeing()
	run.CriticalPath.Seconds, run.CriticalPath.BusyS = 1, 1
	run.Sections = nil
	if !r.Foresee(run, 2) || math.Abs(r.Forecast.Points[0].Speedup-2*6.0/8) > 1e-9 || len(r.Forecast.Points) != 1 {
		t.Errorf("%+v", r.Forecast)
	}
}

// TestNoForecast: where it is not known what depends on what, or how enough of the
// work is dealt out, nothing is foreseen.
func TestNoForecast(t *testing.T) {
	r, run := New(study(t)), foreseeing()
	if r.Foresee(run, 1) || r.Foresee(&report.Report{}, 2) || r.Forecast != nil {
		t.Error("foreseen from nothing")
	}
	run.Sections[1].OnPath.Seconds = .9
	if !r.Foresee(run, 2) || len(r.Forecast.Points) != 1 {
		t.Errorf("%+v", r.Forecast)
	}
	// What was measured at 2 only, as foreseen.
	r = New(study(t))
	r.Points = r.Points[:2]
	run.CriticalPath.Seconds = run.CriticalPath.WorkS * r.Points[1].TimeS / 8
	run.CriticalPath.BusyS = run.CriticalPath.Seconds
	if !r.Foresee(run, 2) || r.Forecast.Part == nil || !r.Forecast.Part.Within {
		t.Errorf("%+v", r.Forecast.Part)
	}
	r.Points = r.Points[1:]
	if r.Foresee(run, 2) {
		t.Error("without a run on one core")
	}
}
