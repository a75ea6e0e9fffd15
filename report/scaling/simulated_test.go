package scaling

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report"
)

// simulated is the run of meetings with caches, in which each part executes a million
// instructions, and misses lines that others took away and the last cache so often.
func simulated(t *testing.T, p int, lines, shared uint64) Simulated {
	t.Helper()
	x := meetings(p)
	x.Run.Machine = "test"
	x.Graph = profile.Graph{Functions: []profile.Function{{Name: "work", Entry: 0x1000, End: 0x1001, N: 1}}, Blocks: []profile.Block{{Start: 0x1000, End: 0x1001, Last: 0x1000, Instructions: 1, Count: 0}}}
	hardware := func(name, reason string, cycles uint32) profile.Event {
		return profile.Event{Kind: profile.Hardware, Edge: -1, Addr: 0x1000, Name: name, Reason: reason, Cycles: cycles, Superior: 0}
	}
	x.Events = []profile.Event{{Kind: profile.BlockEntered, Edge: -1, Addr: 0x1000, Superior: profile.NoEvent},
		hardware("l2-miss", "false-sharing", 50), hardware("upgrade", "", 50), hardware("l3-miss", "capacity", 200), hardware("l1d-miss", "cold", 10)}
	var c profile.Counts
	for e, n := range []uint64{1e6, lines, lines, shared, 1000} {
		if n > 0 {
			c.Event, c.N = append(c.Event, profile.EventID(e)), append(c.N, n)
		}
	}
	for i := range x.Sections[0].Instances {
		for k := range x.Sections[0].Instances[i].Parts {
			x.Sections[0].Instances[i].Parts[k].Counts = c
			at := x.Sections[0].Instances[i].Parts[k].Thread
			x.Threads[at].Totals = x.Threads[at].Totals.Plus(c)
		}
	}
	r, err := report.New(x, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Simulated{x, r}
}

// Inflation is divided by how many more cycles misses take than on one core, the rest is
// said to be something else, and the sum stays.
func TestSimulatedCaches(t *testing.T) {
	r := New(study(t))
	r.AddSections(all(t))
	r.DivideInflation(studyInput().Divide(4, runs(5, 8.4, 8.4, 0), runs(5, 8, 8, 0)), 5)
	if !r.Simulate(simulated(t, 1, 0, 0), simulated(t, 4, 100, 100), 4) {
		t.Fatal("they do not tell")
	}
	// On one core 2 million instructions and 2,000 cold misses of 10 cycles took 8 s; on
	// four, each of 8 parts missed 200 lines of 50 cycles, and 100 times 200.
	lines, shared := 8*200*50/2.02e6*8, 8*100*200/2.02e6*8
	if c := r.Caches; c == nil || !about(c.LinesS, lines) || !about(c.SharedS, shared) || c.Machine != "test" || c.Cycles1 != 2020000 {
		t.Fatalf("%+v, want %v and %v", c, lines, shared)
	}
	for _, stack := range [][]Component{r.Points[2].Stack, r.Sections[0].Points[2].Stack} {
		var names []string
		core := 0.0
		for _, c := range stack {
			names, core = append(names, c.Name), core+c.CoreS
		}
		if got := strings.Join(names, " "); !strings.Contains(got, "inflation-lines inflation-shared inflation-rest") {
			t.Errorf("%s", got)
		}
		if want := map[bool]float64{true: 4 * r.Points[2].TimeS, false: 4 * .86}[&stack[0] == &r.Points[2].Stack[0]]; !about(core, want) {
			t.Errorf("%v of core time, want %v", core, want)
		}
	}
}

// Misses that would take longer than all the inflation are as long as that; where there
// is no inflation, or no more misses, nothing is divided.
func TestSimulatedCachesAreBounded(t *testing.T) {
	few, many := Missed{All: 100}, Missed{All: 1000, Lines: 300, Shared: 100}
	stack := []Component{{Name: "speedup", CoreS: 1}, {Name: "inflation", CoreS: 1}}
	got := divided(stack, 2, few, many, 1, nil)
	if len(got) != 3 || !about(got[1].CoreS, .75) || !about(got[2].CoreS, .25) || len(stack) != 2 {
		t.Errorf("%+v", got)
	}
	for _, same := range [][]Component{divided(stack, 2, many, few, 1, nil), divided(stack, 2, Missed{}, many, 1, nil), divided(stack[:1], 2, few, many, 1, nil)} {
		if len(same) > 2 || len(same) == 2 && same[1].Name != "inflation" {
			t.Errorf("%+v", same)
		}
	}
	r := New(study(t))
	none := simulated(t, 4, 1, 1)
	none.Profile.Run.Machine = ""
	if r.Simulate(none, none, 4) || r.Simulate(simulated(t, 1, 0, 0), simulated(t, 4, 1, 1), 3) || r.Caches != nil {
		t.Error("from nothing")
	}
}
