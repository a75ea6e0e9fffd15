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

// counters is what the perf backend finds: profiler.Counters.
func counters(counted, missing []string, hardware bool, err error) Finding {
	if err != nil {
		return Finding{Text: fmt.Sprintf("--backend perf: %v", err), Fix: "nothing else is wrong: the native backend needs no counters"}
	}
	f := Finding{OK: hardware && len(missing) == 0, Text: "--backend perf: counts " + strings.Join(counted, ", ")}
	if hardware {
		f.Text += "; of known work what is known"
	}
	if len(missing) > 0 {
		f.Fix = "not counted: " + strings.Join(missing, "; ")
	}
	return f
}
