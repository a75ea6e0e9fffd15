package scaling

import (
	"testing"

	"github.com/skewlens/skewlens/report"
)

// waiting is a recorded run on four cores with two sections.
func waiting() []*Recorded {
	wall := 4.5
	at := func(line int) *report.Location {
		return &report.Location{Place: report.Place{File: "/src/owner.c", Line: line, Function: "work"}}
	}
	thread := 2
	waker := &report.Waker{Location: at(62), Seconds: 1, Share: .8, Threads: 1, Thread: &thread}
	thirst := 3
	return []*Recorded{{P: 4, TimeS: wall, CPUS: 6, waited: []ThreadWaited{{&thread, "barrier", at(70), 2, 0}, {&thirst, "lock", at(60), 2.5, 7}}, Report: &report.Report{Sections: []report.Section{
		{Waits: []report.Wait{{Kind: "barrier", Location: at(70), Seconds: 2, Threads: 3}, {Kind: "lock", Location: at(60), Seconds: .5, Threads: 2}}},
		{Waits: []report.Wait{{Kind: "lock", Location: at(60), Seconds: 1.25, Threads: 4, Waker: waker}, {Kind: "lock", Location: at(61), Seconds: .5, Threads: 1}, {Kind: "io", Seconds: .25, Threads: 1}, {Kind: "join", Location: at(80), Seconds: 99, Threads: 5}}},
	}}}}
}

// Waits of all sections are added up by kind, and by kind and line.
func TestWaitsOf(t *testing.T) {
	w := WaitsOf(waiting(), 4)
	if w.P != 4 || *w.TimeS != 4.5 || w.Total != 4.5 || len(w.Kinds) != 3 || w.Kinds[0] != (KindWaited{"lock", 2.25}) || w.Kinds[1] != (KindWaited{"barrier", 2}) {
		t.Errorf("%+v", w)
	}
	if len(w.Lines) != 4 || w.Lines[1].Seconds != 1.75 || w.Lines[1].Threads != 4 || w.Lines[1].Waker == nil || w.Lines[3].Location != nil {
		t.Errorf("%+v", w.Lines)
	}
	if w := WaitsOf([]*Recorded{{Report: &report.Report{Sections: []report.Section{{}}}}}, 2); w != nil {
		t.Errorf("of what was not measured: %+v", w)
	}
	idle := 0.0
	if w := WaitsOf([]*Recorded{{Report: &report.Report{Sections: []report.Section{{IdleS: &idle}}}}}, 2); w == nil || w.Total != 0 || len(w.Lines) != 0 {
		t.Errorf("where nobody waited: %+v", w)
	}
}
