package report

import "testing"

// TestNegligibleWhereLittleIsCounted: where most of a run was not counted, a few
// instructions more or less are nothing, however long the machine made them take.
func TestNegligibleWhereLittleIsCounted(t *testing.T) {
	some, all, long := 0.01, 1.0, 0.001
	section := func(counted *float64, critical uint64) Section {
		return Section{Critical: critical, IdleInstructions: critical, CriticalBusyS: &long, BusyCounted: counted, Threads: []Thread{{Instructions: critical, BusyS: &long}}}
	}
	ss := []Section{section(&some, 200), section(&all, 75), section(nil, 75), section(&all, 20_000)}
	markNegligible(ss)
	for i, want := range []bool{false, true, true, false} {
		if ss[i].Negligible != want {
			t.Errorf("section %d: negligible %v", i, ss[i].Negligible)
		}
	}
	for i := range ss { // all was counted: instructions are the measure
		ss[i].BusyCounted = nil
	}
	markNegligible(ss[:3])
	for i := range ss[:3] {
		if ss[i].Negligible {
			t.Errorf("section %d: negligible", i)
		}
	}
}
