package lime

import (
	"math"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestBothWays: who goes the dear way is spared the cheap one. The branch is one
// cause, and what evening it saves is what evening both saves.
func TestBothWays(t *testing.T) { bothWays(t, false) }

// TestBothWaysOfALine: also where both begin on one line, as those of `? :` do; threads that
// never go the dear way do not take it as often as others.
func TestBothWaysOfALine(t *testing.T) { bothWays(t, true) }

func bothWays(t *testing.T, oneLine bool) {
	t.Helper()
	for _, n := range []int{2, 4, 8} {
		m := newMachine()
		dear := &when{
			cond: func(w *walker) bool { return w.iter < 10+5*w.id },
			then: []stmt{&work{instructions: 90}}, otherwise: []stmt{&work{instructions: 30}},
		}
		p := m.run(all(m.function("main", &repeat{trips: fixed(60), instructions: 1, body: []stmt{dear}}), n)...)
		if oneLine {
			located(m)
			var ways []profile.Addr
			for _, e := range p.Graph.Edges {
				if e.From == dear.head {
					ways = append(ways, p.Graph.Blocks[e.To].Start)
				}
			}
			source(m, ways[1], ways[0])
		}
		res := analyse(t, p, Options{})
		if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(dear.head) || res.Causes[0].Leader != Branch {
			t.Fatalf("%d threads: %+v", n, res.Causes)
		}
		c := res.Causes[0]
		if math.Abs(c.Gain-res.Imbalance) > 0.001 || c.Share < 0.999 || math.Abs(c.Beta-1) > 0.01 {
			t.Errorf("%d threads: gain %v of %v, share %v, beta %v", n, c.Gain, res.Imbalance, c.Share, c.Beta)
		}
		if c.Counts[n-1] != uint64(10+5*(n-1)) {
			t.Errorf("%d threads: %v", n, c.Counts)
		}
	}
}
