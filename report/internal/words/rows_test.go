package words

import (
	"testing"

	"github.com/skewlens/skewlens/internal/units"
)

func TestRowsBeyondThoseShown(t *testing.T) {
	if Shown(3) != 3 || Shown(4800) != mostRows {
		t.Errorf("shown %d of 3, %d of 4800", Shown(3), Shown(4800))
	}
	for want, n := range map[string][]uint64{
		"":                            nil,
		"and 1 more, 7 each":          {7},
		"and 3 more, from 5 to 2,000": {2000, 5, 9},
		"and 2 more, 12 each":         {12, 12},
	} {
		if got := Rest(n, units.Count); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
