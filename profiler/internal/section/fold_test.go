package section

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestDense: a sum is that of its deltas, and takes the room of the counters that
// there are, though the numbers of some lie far from those of others.
func TestDense(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var x dense
	var all []record.Delta
	for range 200 {
		var list []record.Delta
		for range r.IntN(20) {
			from := []int32{-70, 0, 1 << 28, 1 << 29, 1<<31 - 300}[r.IntN(5)]
			list = append(list, record.Delta{Counter: from + r.Int32N(200), N: 1 + r.Uint64N(9)})
		}
		list = record.Merge(list)
		x.add(list)
		all = record.Merge(append(all, list...))
	}
	if got := x.sparse(); !slices.Equal(got, all) {
		t.Errorf("%v, want %v", got, all)
	}
	if most := 5 * (200/pageOf + 2); len(x) > most {
		t.Errorf("%d pages for %d counters, want at most %d", len(x), len(all), most)
	}
}
