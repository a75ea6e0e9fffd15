package native

import (
	"fmt"

	"github.com/skewlens/skewlens/profiler/internal/backend"
)

// Perf is the backend that counts no control flow: what the kernel and the processor count
// of each thread, between the places where threads meet, which are found as they are in
// runs of which only times are of interest (Job.Times).
type Perf struct{}

// Name implements backend.Backend.
func (Perf) Name() string { return "perf" }

// Check implements backend.Backend.
func (Perf) Check(events []backend.Events) error {
	for _, e := range events {
		if e != backend.Hardware {
			return fmt.Errorf("the perf backend cannot count %s: use --events %s, or --backend native", e, backend.Hardware)
		}
	}
	return nil
}

// Run implements backend.Backend.
func (Perf) Run(j backend.Job) (*backend.Outcome, error) {
	j.Times, j.Hardware = true, true
	return onThread(j)
}
