package lime

import (
	"math"
	"testing"
)

// TestBothWays: who goes the dear way is spared the cheap one. The branch is one
// cause, and what evening it saves is what evening both saves.
func TestBothWays(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		m := newMachine()
		dear := &when{
			cond: func(w *walker) bool { return w.iter < 10+5*w.id },
			then: []stmt{&work{instructions: 90}}, otherwise: []stmt{&work{instructions: 30}},
		}
		p := m.run(all(m.function("main", &repeat{trips: fixed(60), instructions: 1, body: []stmt{dear}}), n)...)
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
