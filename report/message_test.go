package report

import (
	"strings"
	"testing"
)

func f(x float64) *float64 { return &x }
func id(n int) *int        { return &n }

func TestMessage(t *testing.T) {
	four := []Thread{{Slot: 1, ID: id(1)}, {Slot: 2, ID: id(2)}, {Slot: 3, ID: id(3)}, {Slot: 5, ID: id(5)}}
	draw := &Location{Place: Place{Function: "draw"}}
	for _, c := range []struct {
		name  string
		time  *float64
		cause Cause
		want  string
	}{
		{"branch", f(4.1), Cause{Leader: "branch", Share: .88, Gain: &Gain{Seconds: f(1.2), Fraction: .29}, Counts: []uint64{1, 7, 9, 15}},
			"88 % of this section's imbalance starts here: thread 5 takes this branch 15×, thread 1 once; balancing it saves up to 1.20 s of 4.10 s"},
		{"one thread", f(.041), Cause{Leader: "branch", Share: 1, Gain: &Gain{Seconds: f(.012), Fraction: .29}, Counts: []uint64{0, 4, 0, 0}},
			"100 % of this section's imbalance starts here: only thread 2 takes this branch (4×); balancing it saves up to 12.0 ms of 41.0 ms"},
		{"indivisible", nil, Cause{Leader: "loop", Share: .5, Gain: &Gain{Fraction: .8, WholeUnits: f(0)}, Counts: []uint64{2, 20000, 2, 2}},
			"50 % of this section's imbalance starts here: thread 2 goes round this loop 20,000×, thread 1 twice; it is one piece of work on one thread: split it or overlap it, which saves up to 80 % of the section"},
		{"the rest of a division", nil, Cause{Leader: "loop", Share: .9, Gain: &Gain{Fraction: .05, WholeUnits: f(0.001)}, Counts: []uint64{325, 300, 290, 288}},
			"90 % of this section's imbalance starts here: thread 1 goes round this loop 325×, thread 5 288×; whole units of it are dealt out as evenly as they can be: smaller ones would save up to 5 % of the section"},
		{"recursion without gain", nil, Cause{Leader: "recursion", Share: .066, Counts: []uint64{0, 1, 3, 3}},
			"7 % of this section's imbalance starts here: thread 3 recurses here 3×, thread 1 never"},
		{"gains nothing", nil, Cause{Leader: "branch", Share: .06, Gain: &Gain{Fraction: .001}, Counts: []uint64{1, 1, 2, 2}},
			"6 % of this section's imbalance starts here: thread 3 takes this branch twice, thread 1 once; balancing it alone would not shorten the section"},
		{"start, one", nil, Cause{Leader: "start", Share: .9, Location: draw, Counts: []uint64{0, 0, 0, 1}},
			"90 % of this section's imbalance starts here: thread 5 begins in draw and does more than the others"},
		{"start, three", nil, Cause{Leader: "start", Share: .9, Location: draw, Counts: []uint64{1, 1, 0, 1}},
			"90 % of this section's imbalance starts here: threads 1, 2 and 5 begin in draw and do more than the others"},
		{"start, counts unknown", nil, Cause{Leader: "start", Share: .9, Location: &Location{}},
			"90 % of this section's imbalance starts here: threads begin at different code, and this one is more work"},
		{"hardware", nil, Cause{Kind: "page-fault", Share: .9, Counts: []uint64{9, 1, 1, 1}},
			"90 % of this section's imbalance starts here: thread 1 has a page fault here 9×, thread 2 once"},
		{"equal counts", nil, Cause{Leader: "loop", Share: .9, Counts: []uint64{9, 9, 9, 9}},
			"90 % of this section's imbalance starts here: every thread goes round this loop 9×, but not with the same work"},
		{"no counts", nil, Cause{Leader: "branch", Share: .004},
			"0.4 % of this section's imbalance starts here: the threads differ in how often it happens"},
	} {
		if got := message(&Section{Threads: four, TimeS: c.time}, &c.cause); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestMessageWhenTheThreadsTakeTurns(t *testing.T) {
	s := &Section{Threads: []Thread{{Slot: 1, ID: id(1)}, {Slot: 2, ID: id(2)}}, Instances: 100, Imbalance: f(.4)}
	c := &Cause{Leader: "loop", Share: 1, Counts: []uint64{10000, 10100}}
	want := "100 % of this section's imbalance starts here: which thread goes round this loop most often changes from instance to instance"
	if got := message(s, c); got != want {
		t.Errorf("got %s", got)
	}
	c.Counts = []uint64{10000, 20000}
	if got := message(s, c); !strings.Contains(got, "thread 2 goes round this loop 20,000×, thread 1 10,000×") {
		t.Errorf("got %s", got)
	}
}

// Where each round has new threads, a number would name one that lived only once.
func TestMessageOfThreadsOfRounds(t *testing.T) {
	s := &Section{Threads: []Thread{{Slot: 1, ID: id(0)}, {Slot: 2}, {Slot: 3}, {Slot: 4}}}
	for _, c := range []struct {
		cause Cause
		want  string
	}{
		{Cause{Leader: "branch", Counts: []uint64{1, 0, 0, 7}}, "the 4th thread of each round takes this branch 7×, the 2nd thread of each round never"},
		{Cause{Leader: "branch", Counts: []uint64{0, 0, 7, 0}}, "only the 3rd thread of each round takes this branch (7×)"},
		{Cause{Leader: "loop", Counts: []uint64{9, 8, 7, 6}}, "thread 0 goes round this loop 9×, the 4th thread of each round 6×"},
		{Cause{Leader: "start", Counts: []uint64{0, 5, 5, 0}, Location: &Location{Place: Place{Function: "draw"}}}, "the 2nd and 3rd of each round's threads begin in draw and do more than the others"},
		{Cause{Leader: "start", Counts: []uint64{0, 5, 0, 0}, Location: &Location{Place: Place{Function: "draw"}}}, "the 2nd thread of each round begins in draw and does more than the others"},
	} {
		if got := difference(s, &c.cause); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}
