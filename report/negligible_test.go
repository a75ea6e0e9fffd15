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
}

// TestNegligibleWhereHardlyAnythingRan: nothing follows from nine instructions and
// seven, though a thread was busy for long beside them: with its end, or with
// what the kernel does when it begins. Not so where its time is what is uneven, and
// takes long enough.
func TestNegligibleWhereHardlyAnythingRan(t *testing.T) {
	long := 0.001
	section := func(critical uint64) Section {
		return Section{Critical: critical, IdleInstructions: critical, CriticalBusyS: &long, Threads: []Thread{{Instructions: critical, BusyS: &long}}}
	}
	apart, faults := section(75), section(75)
	apart.Warnings = []Warning{{Code: "instructions-vs-busy-time"}}
	faults.Causes = []Cause{{Kind: "fault"}}
	short, brief := 1e-6, section(1)
	brief.Warnings, brief.CriticalBusyS = apart.Warnings, &short
	ss := []Section{section(75), section(20_000), apart, faults, brief}
	markNegligible(ss)
	for i, want := range []bool{true, false, false, false, true} {
		if ss[i].Negligible != want {
			t.Errorf("section %d: negligible %v", i, ss[i].Negligible)
		}
	}
}
