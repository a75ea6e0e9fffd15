package cli

import (
	"slices"
	"testing"
)

// TestEventsReachTheBackend: what is asked for is what shall be counted.
func TestEventsReachTheBackend(t *testing.T) {
	for _, args := range [][]string{{"--", "sh"}, {"--events", "edges", "--", "sh"}} {
		f := &fake{p: skewed()}
		if _, stderr, status := profileWith(f, args...); status != 0 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		if !slices.Equal(f.got.Events, []string{"edges"}) {
			t.Errorf("%q: events %q", args, f.got.Events)
		}
	}
}
