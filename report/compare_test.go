package report

import (
	"math"
	"slices"
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

// placed is a section on a line of a function, with an imbalance.
func placed(id, function string, line int, imbalance float64) Section {
	return Section{ID: id, Kind: "barrier", Imbalance: &imbalance, Location: &Location{Place: Place{File: "/w/m.c", Line: line, Function: function}}}
}

// Sections are the same where lines were put above them, also where one came to
// stand where another one was; where one was added, ids decide.
func TestCompareMovedSections(t *testing.T) {
	before := &Report{Sections: []Section{placed("m.c:20", "main", 20, .5), placed("m.c:23", "main", 23, .1), placed("m.c:40", "f", 40, .2), {ID: "x", Kind: "join"}}}
	after := &Report{Sections: []Section{placed("m.c:26", "main", 26, .1), placed("m.c:23", "main", 23, .2), placed("m.c:43", "f", 43, .2), placed("m.c:40", "f", 40, .4), {ID: "x", Kind: "join"}}}
	var got []string
	for _, p := range Compare(before, after).Sections {
		got = append(got, p.Name()+" "+string(p.Verdict()))
	}
	want := "m.c:20 → m.c:23 better, m.c:23 → m.c:26 same, m.c:40 worse, x unclear, m.c:43 added"
	if s := strings.ReplaceAll(strings.Join(got, ", "), "m.c:43 new", "m.c:43 added"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	p, by, worse := Compare(before, after).Worsened()
	if !worse || p.Name() != "m.c:40" || math.Abs(by-.2) > 1e-9 {
		t.Errorf("worse: %s by %v", p.Name(), by)
	}
	if _, _, worse := Compare(before, before).Worsened(); worse {
		t.Error("a run is worse than itself")
	}
	gone := Compare(before, &Report{}).Sections[0]
	if gone.Verdict() != Gone || gone.Name() != "m.c:20" {
		t.Errorf("gone: %s %s", gone.Verdict(), gone.Name())
	}
}

// A second checkout has the same program in another directory; what stands in two of
// them is not mixed up.
func TestCompareOtherDirectory(t *testing.T) {
	in := func(dir string, s Section) Section {
		s.Location.File = dir + "/m.c"
		return s
	}
	before := &Report{Sections: []Section{in("/old", placed("m.c:20", "main", 20, .5)), in("/old", placed("m.c:30", "f", 30, .3)), in("/old/sub", placed("m.c:7", "g", 7, .3))}}
	after := &Report{Sections: []Section{in("/new", placed("m.c:24", "main", 24, .1)), in("/new", placed("m.c:34", "f", 34, .3)), in("/old/sub", placed("m.c:9", "g", 9, .4))}}
	var got []string
	for _, p := range Compare(before, after).Sections {
		got = append(got, p.Name()+" "+string(p.Verdict()))
	}
	if s, want := strings.Join(got, ", "), "m.c:20 → m.c:24 better, m.c:30 → m.c:34 same, m.c:7 → m.c:9 worse"; s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// Imbalances of different things are neither better nor worse than each other.
func TestCompareOtherQuantity(t *testing.T) {
	c := Compare(&Report{Run: Run{Response: "instructions"}, Sections: []Section{placed("m.c:20", "main", 20, .1)}},
		&Report{Run: Run{Response: "task-clock"}, Sections: []Section{placed("m.c:20", "main", 20, .5), placed("m.c:9", "f", 9, .2)}})
	if got := []Verdict{c.Verdict(c.Sections[0]), c.Verdict(c.Sections[1])}; got[0] != Unclear || got[1] != Added {
		t.Errorf("%v", got)
	}
	if p, by, worse := c.Worsened(); !worse || p.Before != nil || by != .2 {
		t.Errorf("worse: %s by %v", p.Name(), by)
	}
	var b strings.Builder
	if err := WriteComparisonJSON(&b, c); err != nil || !strings.Contains(b.String(), `"code": "other-quantity"`) {
		t.Errorf("%v: %s", err, b.String())
	}
}

// Where threads take their work themselves, more imbalance is doubtful, and less is not.
func TestCompareChance(t *testing.T) {
	own := func(s Section) Section {
		s.Warnings = []Warning{{Code: "self-scheduled"}}
		return s
	}
	c := Compare(&Report{Sections: []Section{placed("a", "a", 1, .1), placed("b", "b", 2, .5), placed("c", "c", 3, .1)}},
		&Report{Sections: []Section{own(placed("a", "a", 1, .5)), own(placed("b", "b", 2, .1)), placed("c", "c", 3, .5)}})
	if got := c.Chance(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q", got)
	}
}

func TestCompareSaysWhatChanged(t *testing.T) {
	run := func(path, id string, threads int, args ...string) *Report {
		return &Report{Program: Program{Path: path, BuildID: id, Args: args}, Run: Run{Threads: threads, Cores: 2, Response: "instructions"}}
	}
	got := strings.Join(Compare(run("/p", "1", 4, "4"), run("/p", "2", 8)).Changed(), "; ")
	if want := "arguments: 4 → none; threads: 4 → 8; the program was built anew"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := Compare(run("/p", "1", 4), run("/p", "1", 4)).Changed(); got != nil {
		t.Errorf("nothing has changed: %q", got)
	}
}

func TestComparisonJSON(t *testing.T) {
	var b strings.Builder
	c := Compare(&Report{Sections: []Section{placed("m.c:20", "main", 20, .5)}}, &Report{})
	if err := WriteComparisonJSON(&b, c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"version": 1`, `"changed": []`, `"verdict": "gone"`, `"id": "m.c:20"`, `"imbalance": 0.5`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
}
