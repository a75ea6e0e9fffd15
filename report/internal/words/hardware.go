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

// Cycles are those of a section's threads where they, and not instructions, were counted.
func Cycles(s *report.Section) (list []uint64, known bool) {
	for i := range s.Threads {
		t := &s.Threads[i]
		if t.Instructions > 0 || t.Hardware == nil || t.Hardware.Cycles == nil {
			return nil, false
		}
		list = append(list, *t.Hardware.Cycles)
	}
	return list, len(list) > 0
}
