package report

import (
	"math"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	run := func(ids ...string) *Report {
		r := &Report{}
		for _, id := range ids {
			r.Sections = append(r.Sections, Section{ID: id})
		}
		return r
	}
	name := func(s *Section) string {
		if s == nil {
			return "-"
		}
		return s.ID
	}
	for _, c := range []struct {
		before, after *Report
		pairs, worst  string
	}{
		{run("a", "b"), run("b", "a"), "a=a b=b", "a=a"},
		{run("a", "b", "c"), run("d", "b", "e"), "a=- b=b c=- -=d -=e", "a=d"}, // it may have moved
		{run("a"), run(), "a=-", ""},
		{run(), run("a"), "-=a", ""},
		{run(), run(), "", ""},
	} {
		got := Compare(c.before, c.after)
		pairs, worst := []string{}, ""
		for _, p := range got.Sections {
			pairs = append(pairs, name(p.Before)+"="+name(p.After))
		}
		if p, ok := got.Worst(); ok {
			worst = name(p.Before) + "=" + name(p.After)
		}
		if s := strings.Join(pairs, " "); s != c.pairs || worst != c.worst {
			t.Errorf("pairs %q, the worst %q, want %q and %q", s, worst, c.pairs, c.worst)
		}
		if got.Before != c.before || got.After != c.after {
			t.Error("the reports are not those that were compared")
		}
	}
}

func TestSaving(t *testing.T) {
	cause := []Cause{{Gain: &Gain{Fraction: .3}}}
	for _, c := range []struct {
		name                       string
		before, after              Section
		predicted, work, cpu, time *float64
	}{
		{"all is known", Section{Critical: 400, CriticalBusyS: f(2), TimeS: f(10), JointGain: &Gain{Fraction: .5}, Causes: cause},
			Section{Critical: 100, CriticalBusyS: f(1), TimeS: f(11)}, f(.5), f(.75), f(.5), f(-.1)},
		{"no joint gain", Section{Critical: 400, Causes: cause}, Section{Critical: 400}, f(.3), f(0), nil, nil},
		{"nothing was executed", Section{TimeS: f(1)}, Section{Critical: 4}, nil, nil, nil, nil},
		{"a cause without gain", Section{CriticalBusyS: f(1), Causes: []Cause{{}}}, Section{}, nil, nil, nil, nil},
	} {
		got := Pair{&c.before, &c.after}.Saving()
		for what, x := range map[string][2]*float64{
			"predicted": {got.Predicted, c.predicted}, "work": {got.Work, c.work}, "CPU time": {got.CPU, c.cpu}, "time": {got.Time, c.time},
		} {
			if (x[0] == nil) != (x[1] == nil) || x[0] != nil && math.Abs(*x[0]-*x[1]) > 1e-12 {
				t.Errorf("%s: %s saved is %v, want %v", c.name, what, x[0], x[1])
			}
		}
	}
}

func TestSharedCores(t *testing.T) {
	for _, c := range []struct {
		threads, cores int
		want           bool
	}{{8, 2, true}, {2, 2, false}, {8, 0, false}} {
		r := &Report{Run: Run{Threads: c.threads, Cores: c.cores}}
		if got := Compare(r, &Report{}).SharedCores(); got != c.want {
			t.Errorf("%d threads on %d cores share them: %v", c.threads, c.cores, got)
		}
	}
}
