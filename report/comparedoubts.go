package report

import (
	"fmt"
	"strings"
)

// Doubts are about what a comparison says, not about the runs themselves.
func (c *Comparison) Doubts() (ws []Warning) {
	say := func(code, format string, args ...any) {
		ws = append(ws, Warning{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if c.SharedCores() {
		say("shared-cores", "%d threads shared %d cores: a section's time shows little of what its busiest thread saved", c.Before.Run.Threads, c.Before.Run.Cores)
	}
	if c.Apart() {
		say("other-quantity", "imbalance is of %s before and of %s after, so which is worse cannot be told: give --response for both, as instructions, or profile both alike", c.Before.Run.Response, c.After.Run.Response)
	}
	if ids := c.Chance(); len(ids) > 0 {
		say("self-scheduled", "the threads after take their work themselves at %s: how much each did is chance and differs from run to run, so that it seems more imbalanced says little; compare times, or profile with --cores", strings.Join(ids, ", "))
	}
	return ws
}
