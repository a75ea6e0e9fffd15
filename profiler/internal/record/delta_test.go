package record

import (
	"maps"
	"math"
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

// TestLongSums: long lists are summed as short ones are, whatever counters they have,
// also those behind others that were.
func TestLongSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, top := range []int{1, 63, 64, 65, 5000, 1000, 1 << 17, 1 << 30} {
		for _, n := range []int{many - 1, many, 700, 9000} {
			d := make([]Delta, n)
			for i := range d {
				d[i] = Delta{Counter: int32(r.IntN(top)), N: r.Uint64()}
			}
			switch top {
			case 1000:
				d[n/2].Counter = -1
			case 5000, 65: // what hardware does, too
				for i := range d {
					if r.IntN(3) == 0 {
						d[i].Counter += 1 << 29
					}
				}
			case 64: // nothing else
				for i := range d {
					d[i].Counter += counter
				}
			case 63:
				d[0].Counter, d[1].Counter, d[2].Counter = math.MaxInt32, counter-1, counter
			}
			got := Merge(slices.Clone(d))
			sorted(t, "Merge", got)
			if !maps.Equal(sums(got), sums(d)) {
				t.Errorf("%d below %d: other sums", n, top)
			}
			before := slices.Clone(d)
			for _, log := range [][]Delta{d, got} { // as it came, and summed already
				if in := OwnIn(make([]Delta, len(log)), log); !slices.Equal(in, got) {
					t.Errorf("%d below %d: other sums in room that was there", n, top)
				}
				own := Own(log)
				if !slices.Equal(own, got) || !slices.Equal(Sum(log), got) {
					t.Errorf("%d below %d: other sums of a list that is kept", n, top)
				}
				clear(own)
				if !slices.Equal(d, before) || !slices.Equal(Sum(d), got) {
					t.Errorf("%d below %d: the list itself was written to", n, top)
				}
			}
		}
	}
}

// TestLogs: a log holds what was logged, its moments stay what they were while it
// goes on, also where it is summed on the way, and what lies between two of them
// is their difference.
func TestLogs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		var log []Delta
		want := map[int32]uint64{}
		type moment struct {
			log []Delta
			sum map[int32]uint64
		}
		var moments []moment
		for range 3000 {
			next := Merge(random(r))
			log = Log(log, next)
			for _, d := range next {
				want[d.Counter] += d.N
			}
			if r.IntN(100) == 0 {
				moments = append(moments, moment{slices.Clip(log), maps.Clone(want)})
			}
		}
		moments = append(moments, moment{log, want})
		for i, b := range moments {
			if !maps.Equal(sums(b.log), b.sum) {
				t.Fatalf("moment %d has changed", i)
			}
			sorted(t, "Sum", Sum(b.log))
			a := moments[r.IntN(i+1)]
			between := map[int32]uint64{}
			for c, n := range b.sum {
				if n -= a.sum[c]; n > 0 {
					between[c] = n
				}
			}
			if got := sums(Sub(b.log, a.log)); !maps.Equal(got, between) {
				t.Fatalf("between two moments: %v, want %v", got, between)
			}
			if got := sums(Add(a.log, b.log)); !maps.Equal(got, sums(a.log, b.log)) {
				t.Fatalf("two moments added: %v", got)
			}
		}
		if len(log) > 2*compactFrom {
			t.Errorf("a log of %d counters is %d long", len(want), len(log))
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
