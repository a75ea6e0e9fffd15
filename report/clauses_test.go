package report

import (
	"testing"

	"github.com/skewlens/skewlens/lime/dealing"
	"github.com/skewlens/skewlens/profile"
)

// TestClauses: each runtime's own words, and none where it has none.
func TestClauses(t *testing.T) {
	at := func(file string, line int) *Location {
		l := &Location{}
		l.File, l.Line = file, line
		return l
	}
	for _, c := range []struct {
		kind     profile.SectionKind
		dealt    profile.DealtBy
		at, loop *Location
		turns    string
		four     string
	}{
		{profile.OpenMP, profile.DealtOnDemand, at("a.c", 7), at("a.c", 8), "schedule(static, 1)", "schedule(dynamic, 4)"},
		{profile.OpenMP, profile.DealtInBlocks, at("a.c", 7), at("a.c", 20), "", ""},
		{profile.OpenMP, profile.DealtInTasks, at("a.c", 7), at("a.c", 8), "", "grainsize(4)"},
		{profile.Join, profile.DealtInTasks, at("a.cc", 7), at("a.cc", 7), "", "blocked_range(…, 4), simple_partitioner"},
		{profile.Join, profile.DealtInTasks, at("a.rs", 7), at("range.rs", 9), "", "with_min_len(4)"},
		{profile.Join, profile.DealtInTasks, nil, at("a.cc", 9), "", "blocked_range(…, 4), simple_partitioner"},
		{profile.Join, profile.DealtOnDemand, at("a.cc", 7), at("a.cc", 7), "", ""},
		{profile.Goroutines, profile.DealtOnDemand, at("a.go", 7), at("a.go", 3), "i += goroutines", "next.Add(4), or 4 to a send"},
		{profile.Goroutines, profile.DealtInBlocks, at("a.go", 7), at("a.go", 3), "i += goroutines", "next.Add(4), or 4 to a send"},
	} {
		of := clauses(&profile.Section{Kind: c.kind, Units: &profile.Units{Dealt: c.dealt}}, c.at, c.loop)
		turns, four := "", ""
		if of != nil {
			turns, four = of(dealing.Turns, 0), of(dealing.Demand, 4)
		}
		if turns != c.turns || four != c.four {
			t.Errorf("%s, %s: %q and %q, want %q and %q", c.kind, c.dealt, turns, four, c.turns, c.four)
		}
	}
	for kind, want := range map[dealing.Kind]string{dealing.Blocks: "schedule(static)", dealing.Guided: "schedule(guided)", dealing.LongestFirst: ""} {
		if got := ofOpenMP(kind, 0); got != want {
			t.Errorf("%s is %q", kind, got)
		}
	}
	if ofGo(dealing.Blocks, 0) == "" || ofGo(dealing.LongestFirst, 0) != "" {
		t.Errorf("%q and %q", ofGo(dealing.Blocks, 0), ofGo(dealing.LongestFirst, 0))
	}
}
