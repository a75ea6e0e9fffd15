package words

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/units"
	"github.com/skewlens/skewlens/report"
)

// Hardware is what the kernel and the processor counted, as far as it is known.
func Hardware(h *report.Hardware) (facts []string) {
	add := func(n *uint64, what string) {
		switch {
		case n == nil:
		case *n == 1:
			facts = append(facts, "1 "+what)
		case strings.HasSuffix(what, "s") || strings.HasSuffix(what, "ch"):
			facts = append(facts, units.Compact(*n)+" "+what+"es")
		default:
			facts = append(facts, units.Compact(*n)+" "+what+"s")
		}
	}
	if h.CPUS != nil {
		facts = append(facts, units.Seconds(*h.CPUS)+" of CPU time")
	}
	add(h.Cycles, "cycle")
	if h.IPC != nil {
		facts = append(facts, fmt.Sprintf("%.2f instructions a cycle", *h.IPC))
	}
	add(h.CacheMisses, "cache miss")
	add(h.PageFaults, "page fault")
	add(h.ContextSwitches, "context switch")
	add(h.Migrations, "migration")
	return facts
}

// CountedOf is how much the kernel or the processor counted of each of a section's threads,
// in its words, where instructions were not: cycles, or else CPU time.
func CountedOf(s *report.Section) (list []uint64, show func(uint64) string, unit string, known bool) {
	cycles, clock := make([]uint64, 0, len(s.Threads)), make([]uint64, 0, len(s.Threads))
	for i := range s.Threads {
		t := &s.Threads[i]
		if t.Instructions > 0 || t.Hardware == nil {
			return nil, nil, "", false
		}
		if n := t.Hardware.Cycles; n != nil {
			cycles = append(cycles, *n)
		}
		if x := t.Hardware.CPUS; x != nil {
			clock = append(clock, uint64(*x*1e9))
		}
	}
	switch n := len(s.Threads); {
	case n > 0 && len(cycles) == n:
		return cycles, units.Compact, " cycles", true
	case n > 0 && len(clock) == n:
		return clock, func(ns uint64) string { return units.Seconds(float64(ns) / 1e9) }, " of CPU time", true
	}
	return nil, nil, "", false
}
