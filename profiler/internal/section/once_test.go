package section

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestOnce: what was solved before is what it would be if solved again, also where others
// have taken its place, and is solved once where none has.
func TestOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	solved := 0
	solve := func(d []record.Delta) (c profile.Counts) {
		for _, x := range d {
			c.Event, c.N = append(c.Event, profile.EventID(x.Counter+8)), append(c.N, x.N)
		}
		solved++
		return c
	}
	var lists [][]record.Delta
	for len(lists) < 2*solvedParts {
		var d []record.Delta
		for c := range int32(r.IntN(5)) {
			if r.IntN(3) > 0 {
				d = append(d, record.Delta{Counter: c - 1, N: r.Uint64N(3) << r.IntN(50)})
			}
		}
		lists = append(lists, d)
	}
	ask := once(solve)
	for range 20 * solvedParts {
		d := lists[r.IntN(len(lists))]
		got, want := ask(slices.Clone(d)), solve(d)
		if !slices.Equal(got.Event, want.Event) || !slices.Equal(got.N, want.N) {
			t.Fatalf("%v became %+v, want %+v", d, got, want)
		}
	}
	ask, solved = once(solve), 0
	for range 100 {
		ask([]record.Delta{{Counter: 3, N: 5}})
		ask([]record.Delta{{Counter: 3, N: 6}})
	}
	if solved != 2 {
		t.Errorf("two lists, a hundred times each, were solved %d times", solved)
	}
}
