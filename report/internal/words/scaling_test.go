package words

import (
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report"
	"github.com/skewlens/skewlens/report/scaling"
)

// joined is a table in one line.
func joined(rows [][]string) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.Join(r, ","))
	}
	return strings.Join(lines, "|")
}

func TestScaling(t *testing.T) {
	r := &scaling.Report{Setting: scaling.Setting{Cores: 2, Whole: 2}, BaselineS: .5, Points: []scaling.Point{
		{P: 1, Runs: 1, TimeS: .5, WallS: .5, CPUS: f(.5), IdleS: f(0), WorkS: f(.5), InflationS: f(-.00001), Speedup: scaling.Speedups{Linear: 1, Actual: f(1)}},
		{P: 4, Runs: 1, TimeS: .25, WallS: .3, InflationS: f(-.1), InflationSD: f(.01), QueueS: f(.2), Oversubscribed: true, Disturbed: true,
			Speedup: scaling.Speedups{Linear: 4, Actual: f(2)}, Low: &scaling.Speedups{Actual: f(1.5)}, High: &scaling.Speedups{Actual: f(2.5)}},
	}}
	if got, want := strings.Join(Scaling(r), Dot), "baseline: the program itself on 1 core, 500 ms · 1 run of each · 2 cores"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := joined(Times(r)), "cores,time, ms,work,idle,inflation,waited for cores|1,500,500,0.00,−0.01,?|disturbed oversubscribed 4,250,?,?,−100 ± 10.0,200"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := joined(Speedups(r)), "speedup on,maximal,idle-specific,inflation-specific,actual,99 % interval|1,?,?,?,1.00,|disturbed oversubscribed 4,?,?,?,2.00,1.50 … 2.50"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r.Baseline, r.BaselineSD, r.Elision, r.ElisionS = "./seq\x1b", f(.01), "./one", f(.4)
	r.Setting = scaling.Setting{Cores: 4, Whole: 2, Pinned: true, Environment: []string{"A=1"}}
	if got, want := strings.Join(Scaling(r), Dot), "baseline: ./seq\ufffd, 500 ms ± 10.0 · elision: ./one, 400 ms · 1 run of each · 4 hardware threads of 2 cores · pinned · set for it: A=1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := joined(Speedups(r)); !strings.HasPrefix(got, "speedup on,elision,maximal") {
		t.Error(got)
	}
}

func TestGrows(t *testing.T) {
	for want, l := range map[string]scaling.Line{
		"work on 2 cores is 1.50 s, 3.00× that on 1 core: 1.00 s more (99 %: 0.80 s to 1.20 s), 75 % of all that grows":           {P: 2, W1S: .5, WPS: 1.5, InflationS: 1, LowS: .8, HighS: 1.2, Share: .75},
		"work on 4 cores is 250 ms, where there was none on 1 core: 250 ms more (99 %: 200 ms to 300 ms), 20 % of all that grows": {P: 4, WPS: .25, InflationS: .25, LowS: .2, HighS: .3, Share: .2},
	} {
		if got := Grows(&l); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestAlone(t *testing.T) {
	r := &scaling.Report{Points: []scaling.Point{{P: 1, TimeS: 2}, {P: 2, TimeS: 1.5}, {P: 4, TimeS: 1.25}}}
	for want, l := range map[string]scaling.Serial{
		"on 2 cores it runs alone for 0.50 s (99 %: 0.45 s to 0.55 s) of 1.50 s: the other core idles meanwhile":   {P: 2, AloneS: .5, LowS: .45, HighS: .55},
		"on 4 cores it runs alone for 0.75 s (99 %: 0.70 s to 0.80 s) of 1.25 s: the other 3 cores idle meanwhile": {P: 4, AloneS: .75, LowS: .7, HighS: .8},
	} {
		if got := Alone(r, &l); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestIdle(t *testing.T) {
	at := &report.Location{Place: report.Place{File: "/s/a.c", Line: 7}}
	wall := 1.5
	r := &scaling.Report{Waits: &scaling.Waits{P: 2, Runs: 3, TimeS: &wall, Total: 1, Lines: []report.Wait{{Kind: "lock", Location: at, Seconds: .994, Threads: 2}, {Kind: "io", Seconds: .005}}}}
	want := []string{"threads waited 1.00 s in all, on 2 cores, in recorded runs of 1.50 s", "0.99 s for the lock at a.c:7"}
	if got := Idle(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r.Waits.SpinS = f(.25)
	if got := Idle(r)[0]; got != want[0]+"; for 250 ms of it at least they spun, which is work in the figures above" {
		t.Error(got)
	}
	if got := Idle(&scaling.Report{}); got != nil {
		t.Errorf("%q, though it is not known", got)
	}
}
