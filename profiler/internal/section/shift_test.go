package section

import (
	"slices"
	"testing"
)

// A thread that comes back several times in a round has all its waits in it, and what
// stands behind those in its own list stays as it was.
func TestWaitsOfARoundLeaveTheThreadsOwn(t *testing.T) {
	x := &thread{}
	for n := range uint64(12) {
		x.waits = append(x.waits, wait{begin: n, end: n + 1})
	}
	y := &shift{}
	for n := 0; n < 9; n += 3 {
		y.add(arrival{t: x, waits: x.waits[n : n+2]})
	}
	earlier := slices.Clone(y.parts) // as a section takes them
	y.add(arrival{t: x, waits: x.waits[9:11]})
	begins := func(list []wait) (of []uint64) {
		for _, w := range list {
			of = append(of, w.begin)
		}
		return of
	}
	if got, want := begins(y.parts[0].waits), []uint64{0, 1, 3, 4, 6, 7, 9, 10}; !slices.Equal(got, want) {
		t.Errorf("waits of the round begin at %d, want %d", got, want)
	}
	if got, want := begins(earlier[0].waits), []uint64{0, 1, 3, 4, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("waits as they were before begin at %d, want %d", got, want)
	}
	if got, want := begins(x.waits), []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; !slices.Equal(got, want) {
		t.Errorf("the thread's own waits begin at %d, want %d", got, want)
	}
}
