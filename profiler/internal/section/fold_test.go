package section

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
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

// TestFoldedRoom: instances that stand where folded ones stood are what they are where
// there is room for all, and so are the sums, whatever the widths and counters.
func TestFoldedRoom(t *testing.T) {
	run := func(maxBytes int) []profile.Section {
		r := rand.New(rand.NewPCG(7, 8))
		s := newScript(maxBytes)
		threads(s, 6)
		for b := range uint64(3) {
			s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7 + b, Arg3: 2 * (b + 1)})
		}
		for range 3000 {
			b := r.Uint64N(3)
			n := profile.ThreadID(2 * (b + 1))
			for i := range n {
				s.at(1+i, barrierWait, 7+b, 160*(1+b), slices.Collect(func(yield func(uint64) bool) {
					for range r.IntN(12) {
						if !yield(r.Uint64N(3)) {
							return
						}
					}
				})...)
			}
			for i := range n {
				s.at(1+i, barrierLeft, 7+b, 160*(1+b))
			}
			s.Advance(s.now)
		}
		return s.Finish()
	}
	all, some := run(1<<30), run(1<<14)
	if len(all) != 3 || len(some) != 3 {
		t.Fatalf("%d and %d sections", len(all), len(some))
	}
	for i := range all {
		a, b := all[i].Instances, some[i].Instances
		if b[0].Folded < 100 {
			t.Fatalf("only %d were folded", b[0].Folded)
		}
		whole := b[1:]
		if n := len(whole); b[0].Folded+n != len(a) || n < 2 || !reflect.DeepEqual(whole, a[len(a)-n:]) {
			t.Errorf("section %d: the last %d instances are others", i, n)
		}
		sums := func(of []profile.Instance) map[profile.EventID]uint64 {
			m := map[profile.EventID]uint64{}
			for _, in := range of {
				for _, p := range in.Parts {
					for k, e := range p.Counts.Event {
						m[e] += p.Counts.N[k]
					}
				}
			}
			return m
		}
		if !reflect.DeepEqual(sums(a), sums(b)) {
			t.Errorf("section %d: %v, and where some were folded %v", i, sums(a), sums(b))
		}
	}
}
