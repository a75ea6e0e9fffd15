package report

import (
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestVirtualAddsUp: the cores are either at work or waiting, for all of the span,
// and no dealing is quicker than the cores are.
func TestVirtualAddsUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		threads, cores := 1+rng.IntN(9), 1+rng.IntN(9)
		v, sum, span := Virtual{Cores: cores}, uint64(0), uint64(0)
		for range 1 + rng.IntN(5) {
			l := profile.Load{}
			for range threads {
				n := uint64(rng.IntN(1000))
				l.Each = append(l.Each, n)
				l.Most, l.Sum = max(l.Most, n), l.Sum+n
			}
			v.add(l)
			sum += l.Sum
			span += l.Most
		}
		joint := Gain{Fraction: rng.Float64()}
		got := v.of(&joint)
		switch {
		case got == nil:
			if sum > 0 {
				t.Fatalf("nothing of %d instructions", sum)
			}
		case got.Wait != got.Span*uint64(threads)-sum:
			t.Fatalf("%+v of %d threads with %d instructions", got, threads, sum)
		case threads <= cores && got.Span != span:
			t.Fatalf("%d threads on %d cores take %d, the busiest %d", threads, cores, got.Span, span)
		case (got.Span-*got.Gain)*uint64(cores) < sum:
			t.Fatalf("%d cores are done with %d instructions after %d − %d", cores, sum, got.Span, *got.Gain)
		}
	}
	none := Virtual{}
	if none.add(profile.Load{Each: []uint64{3}, Most: 3, Sum: 3}); none.of(nil) != nil {
		t.Error("virtual cycles without virtual cores")
	}
}
