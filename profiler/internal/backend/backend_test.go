package backend

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestUnavailable: it is found in what wraps it, says what its cause says, and
// is no other error.
func TestUnavailable(t *testing.T) {
	cause := errors.New("no tracing here; allow it")
	err := fmt.Errorf("prepare x: %w", &Unavailable{cause})
	var u *Unavailable
	if !errors.As(err, &u) || !errors.Is(err, cause) || err.Error() != "prepare x: "+cause.Error() {
		t.Errorf("%v", err)
	}
	if errors.As(cause, &u) {
		t.Errorf("%v says that nothing has run", cause)
	}
}

// TestEachCounts: no counts of a profile are left out, and all can be changed.
func TestEachCounts(t *testing.T) {
	n := uint64(0)
	next := func() profile.Counts {
		n++
		return profile.Counts{Event: []profile.EventID{0}, N: []uint64{n}}
	}
	p := &profile.Profile{Threads: []profile.Thread{{Totals: next()}, {Totals: next()}}}
	for range 2 {
		s := profile.Section{Totals: []profile.Part{{Counts: next()}}}
		for range 2 {
			s.Instances = append(s.Instances, profile.Instance{Parts: []profile.Part{{Counts: next()}, {Counts: next()}}})
		}
		p.Sections = append(p.Sections, s)
	}
	var got []uint64
	EachCounts(p, func(c *profile.Counts) {
		got = append(got, c.N[0])
		*c = profile.Counts{}
	})
	if len(got) != int(n) || !slices.IsSorted(got) || got[0] != 1 || got[n-1] != n {
		t.Errorf("visited %v of %d", got, n)
	}
	EachCounts(p, func(c *profile.Counts) {
		if c.N != nil {
			t.Errorf("%v was not changed", c.N)
		}
	})
}
