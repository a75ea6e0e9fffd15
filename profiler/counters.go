package profiler

import "github.com/skewlens/skewlens/profiler/internal/perf"

// Counters says what of a thread the kernel and the processor count here, as the perf
// backend reads it, and what they do not, a sentence each: why, and the fix. An error
// says why they count nothing.
func Counters() (counted, missing []string, hardware bool, err error) {
	set, err := perf.Find()
	if err != nil {
		return nil, nil, false, err
	}
	for _, c := range set.Counters {
		counted = append(counted, c.Name)
	}
	if set.Places() {
		counted = append(counted, "at which instructions caches miss")
	}
	for _, m := range set.Missing {
		missing = append(missing, m.String())
	}
	return counted, missing, set.Hardware(), nil
}
