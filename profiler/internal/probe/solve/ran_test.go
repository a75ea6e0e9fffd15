package solve

import (
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
)

// What is packed of counts is never twice what they are: whoever needs much more need not
// pack them to know.
func TestPassed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		v := &Solver{funcs: make([]*function, 3), broken: map[int32]bool{}}
		packed := 0.0
		for fn := range int32(2) { // the third one did not run
			x := &function{fn: fn, total: make([]int64, 1+r.IntN(9))}
			for i := range x.total {
				x.total[i] = r.Int64N(1 << r.IntN(50))
			}
			v.funcs[fn] = x
			packed += placement.Passed(v.Ran(fn))
		}
		if n := v.Passed(); packed > 2*float64(n) || packed < float64(n)/2 {
			t.Fatalf("%g packed of %d", packed, n)
		}
	}
	v := &Solver{funcs: []*function{{total: []int64{3, -2, 0, 4}}, nil}}
	if n := v.Passed(); n != 7 {
		t.Errorf("%d edges, want 7", n)
	}
}
