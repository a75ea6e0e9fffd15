package lime

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestGains(t *testing.T) {
	g := one(4)
	// Thread 3 alone does 60 more: evened, everyone does 15 of it.
	resp, k := []float64{40, 40, 40, 100}, []float64{0, 0, 0, 60}
	if got := g.savedByEvening(resp, k); got != 45 {
		t.Errorf("evened: %v, want 45", got)
	}
	for n, want := range map[float64]float64{1: 0, 2: 30, 3: 40, 4: 45, 60: 45, 1e6: 45} {
		if got := g.savedByScheduling(resp, k, []float64{0, 0, 0, n}); math.Abs(got-want) > 1e-9 {
			t.Errorf("in %v units: %v, want %v", n, got, want)
		}
	}
	// Evening a cause that makes up for another costs time.
	if got := one(2).savedByEvening([]float64{10, 9}, []float64{0, 5}); got >= 0 {
		t.Errorf("a compensating cause saves %v", got)
	}
	// A folded group is scheduled in an average execution.
	folded := groups{{0, 4, 10}}
	ten := func(v []float64) []float64 {
		v = append([]float64(nil), v...)
		floats.Scale(10, v)
		return v
	}
	if got := folded.savedByScheduling(ten(resp), ten(k), []float64{0, 0, 0, 10}); got != 0 {
		t.Errorf("one unit in each of ten executions: %v, want 0", got)
	}
}

// List scheduling of very many units comes to water-filling.
func TestListSchedulingIsWaterFillingInTheLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 50 {
		base := make([]float64, 2+rng.IntN(9))
		for i := range base {
			base[i] = 100 * rng.Float64()
		}
		work := 500 * rng.Float64()
		scheduled, filled := listSchedule(base, work, manyUnits), waterFill(base, work)
		if scheduled < filled-1e-9 || scheduled > filled+work/manyUnits+1e-9 {
			t.Errorf("scheduled %v, filled %v", scheduled, filled)
		}
		if least := max(floats.Max(base), (floats.Sum(base)+work)/float64(len(base))); math.Abs(filled-least) > 1e-9 {
			t.Errorf("filled to %v, %v is possible", filled, least)
		}
	}
}
