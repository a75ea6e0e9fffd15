package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestBodies: what threads run and their creator calls too was inlined into
// both. The creator has least to do: evening out counts its copy in.
func TestBodies(t *testing.T) {
	for _, n := range []int{3, 8} {
		m := newMachine()
		var fs []*function
		for _, name := range []string{"serve", "main"} {
			l := &repeat{trips: func(w *walker) int { return 25 * (1 + (w.id*5)%n) }, instructions: 9}
			fs = append(fs, m.function(name, &repeat{trips: fixed(10), instructions: 2, body: []stmt{l}}))
		}
		mains := all(fs[0], n)
		mains[0] = fs[1]
		p := m.run(mains...)
		located(m)
		g := m.p.Graph.Functions
		for i := range g[1].N {
			a, b := &m.p.Graph.Blocks[g[1].First+profile.BlockID(i)], &m.p.Graph.Blocks[g[0].First+profile.BlockID(i)]
			source(m, a.Start, b.Start)
			source(m, a.Last, b.Last)
		}
		for i := range m.p.Locations {
			l := &m.p.Locations[i]
			l.Function = "share"
			if l.InlinedAt = []profile.Frame{{File: "a.c", Line: 7, Function: "serve"}}; l.Address >= g[1].Entry {
				l.InlinedAt = []profile.Frame{{File: "a.c", Line: 9, Function: "main"}}
			}
		}
		res := analyse(t, p, Options{})
		if len(res.Causes) != 1 || res.Causes[0].Leader != Loop {
			t.Fatalf("%d threads: %+v", n, res.Causes)
		}
		c := res.Causes[0]
		if c.Share < 0.99 || c.Gain < 0.98*res.Imbalance {
			t.Errorf("%d threads: share %g, gain %g of %g", n, c.Share, c.Gain, res.Imbalance)
		}
		for id, trips := range c.Counts {
			if least := uint64(24 * 10 * (1 + (id*5)%n)); trips < least {
				t.Errorf("%d threads: thread %d went round %d times, not %d", n, id, trips, least)
			}
		}
	}
}
