package solve

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestGather: few and many counts come in the order of their events, each once,
// and nothing of one list is left in the next.
func TestGather(t *testing.T) {
	var g gather
	r := rand.New(rand.NewPCG(31, 32))
	for range 500 {
		n := r.IntN(3 * fewCounted)
		events := 1 + r.IntN(4*fewCounted<<r.IntN(4))
		want := map[profile.EventID]uint64{}
		for range n {
			e, k := profile.EventID(r.IntN(events)), 1+r.Int64N(1000)
			g.add(e, k)
			want[e] += uint64(k)
		}
		g.add(profile.NoEvent, 7)
		c := g.take()
		if !slices.Equal(c.Event, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%d counts: events %v", n, c.Event)
		}
		for i, e := range c.Event {
			if c.N[i] != want[e] {
				t.Fatalf("%d counts: %d of event %d, want %d", n, c.N[i], e, want[e])
			}
		}
	}
}
