package words

import (
	"testing"

	"github.com/skewlens/skewlens/internal/units"
)

func TestRest(t *testing.T) {
	for _, c := range []struct {
		n    []uint64
		want string
	}{
		{nil, ""},
		{[]uint64{3, 1, 1000}, "and 3 more, from 1 to 1,000"},
		{[]uint64{7, 7}, "and 2 more, 7 each"},
	} {
		if got := Rest(c.n, units.Count); got != c.want {
			t.Errorf("%v: %q, want %q", c.n, got, c.want)
		}
	}
	if Shown(3) != 3 || Shown(5000) != mostRows {
		t.Errorf("%d and %d are shown", Shown(3), Shown(5000))
	}
}
