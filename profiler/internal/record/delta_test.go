package record

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// random makes deltas, some of them of one counter.
func random(r *rand.Rand) []Delta {
	d := make([]Delta, r.IntN(12))
	for i := range d {
		d[i] = Delta{Counter: int32(r.IntN(9) - 3), N: uint64(r.IntN(5) + 1)}
	}
	return d
}

func sums(ds ...[]Delta) map[int32]uint64 {
	m := map[int32]uint64{}
	for _, d := range ds {
		for _, x := range d {
			m[x.Counter] += x.N
		}
	}
	return m
}

func sorted(t *testing.T, what string, d []Delta) {
	t.Helper()
	if !slices.IsSortedFunc(d, func(a, b Delta) int { return int(a.Counter) - int(b.Counter) }) || len(sums(d)) != len(d) {
		t.Errorf("%s: %v is not sorted, or has a counter twice", what, d)
	}
}

// TestSumsOfDeltas: merging, adding and subtracting lists is what it is
// counter by counter, and leaves the arguments as they were.
func TestSumsOfDeltas(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		raw, other := random(r), random(r)
		want := sums(raw)
		a := Merge(slices.Clone(raw))
		sorted(t, "Merge", a)
		if !maps.Equal(sums(a), want) {
			t.Fatalf("Merge(%v) = %v", raw, a)
		}
		b := Merge(other)
		a0, b0 := slices.Clone(a), slices.Clone(b)
		sum := Add(a, b)
		sorted(t, "Add", sum)
		if !maps.Equal(sums(sum), sums(a, b)) {
			t.Fatalf("Add(%v, %v) = %v", a, b, sum)
		}
		less := Sub(sum, b)
		sorted(t, "Sub", less)
		if !maps.Equal(sums(less), sums(a)) {
			t.Fatalf("Sub(%v, %v) = %v, want %v", sum, b, less, a)
		}
		if !slices.Equal(a, a0) || !slices.Equal(b, b0) {
			t.Fatalf("%v and %v became %v and %v", a0, b0, a, b)
		}
	}
}

// TestNothingLeft: a list less itself is nothing, not counters that are zero.
func TestNothingLeft(t *testing.T) {
	a := []Delta{{1, 2}, {5, 7}}
	for _, b := range [][]Delta{a, slices.Clone(a)} {
		if d := Sub(a, b); len(d) != 0 {
			t.Errorf("%v is left of a list less itself", d)
		}
	}
	if d := Sub(nil, nil); len(d) != 0 {
		t.Errorf("%v is left of nothing", d)
	}
}
