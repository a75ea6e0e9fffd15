package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// paranoid says whether the kernel lets a user, or root, watch whole processors.
func paranoid(read readFile, root bool) Finding {
	b, err := read("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		return Finding{Text: "perf events: this kernel has none", Fix: "not needed for the native backend"}
	}
	level := strings.TrimSpace(string(b))
	n, err := strconv.Atoi(level)
	return Finding{
		OK:   err == nil && (n <= 0 || root),
		Text: "perf events: perf_event_paranoid is " + level,
		Fix:  "time in page faults is not known: sysctl kernel.perf_event_paranoid=0 as root",
	}
}

// counters is what came of tryCounters.
func counters(err error) Finding {
	if err != nil {
		return Finding{
			Text: fmt.Sprintf("hardware counters: none (%v): software events only", err),
			Fix:  "nothing is wrong: the native backend needs none; virtual machines rarely have them",
		}
	}
	return Finding{OK: true, Text: "hardware counters: instructions and cycles of known work are counted as such"}
}
