package native

import (
	"strings"
	"testing"
)

// TestUntoldParks: that waits are not recorded matters where they are a twentieth of all,
// and of the run.
func TestUntoldParks(t *testing.T) {
	for _, c := range []struct {
		told, untold float64
		run          uint64
		want         string
	}{
		{0, 0, 1000, ""}, {100, 4, 10, ""}, {100, 100, 2001, ""}, {100, 100, 2000, "50 % of that time"}, {0, 100, 2000, "100 % of that time"},
	} {
		d := (&parks{told: c.told, untold: c.untold}).doubts(c.run)
		if c.want == "" && len(d) == 0 || len(d) == 1 && d[0].Code == "waits" && c.want != "" && strings.Contains(d[0].Message, c.want) {
			continue
		}
		t.Errorf("%v: %v", c, d)
	}
}
