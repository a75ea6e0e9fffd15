package lime

import (
	"math"
	"slices"
	"testing"
)

func TestForwardAgreesWithStatsmodels(t *testing.T) {
	var cases []struct {
		Y      []float64
		C      [][]float64
		Chosen []int
		P      []float64
		Beta   []float64
		R2     float64
	}
	readJSON(t, "testdata/regression.json", &cases)
	terms := 0
	for i, c := range cases {
		n := len(c.Y)
		columns := make([][]float64, len(c.C))
		for j, x := range c.C {
			columns[j] = one(n).unit(x)
		}
		f := forward(one(n).unit(c.Y), columns, selection{df: n - 1, terms: n - 2, enough: 2})
		if !slices.Equal(f.chosen, c.Chosen) && len(f.chosen)+len(c.Chosen) > 0 {
			t.Errorf("case %d: chose %v, statsmodels %v", i, f.chosen, c.Chosen)
			continue
		}
		for k := range f.chosen {
			terms++
			if !near6(f.beta[k], c.Beta[k]) || !near6(f.p[k], c.P[k]) {
				t.Errorf("case %d, term %d: β %v p %v, statsmodels %v, %v", i, k, f.beta[k], f.p[k], c.Beta[k], c.P[k])
			}
		}
		if !near6(f.r2, c.R2) {
			t.Errorf("case %d: R² %v, statsmodels %v", i, f.r2, c.R2)
		}
	}
	if terms < 50 {
		t.Errorf("only %d terms were compared", terms)
	}
}

func near6(a, b float64) bool { return math.Abs(a-b) <= 1e-6 }

func TestForwardPositive(t *testing.T) {
	// y = a − b/2: the step to b is refused, though it is significant.
	a := one(8).unit([]float64{1, 2, 3, 4, 5, 6, 7, 9})
	b := one(8).unit([]float64{3, 1, 4, 1, 5, 9, 2, 6})
	y := make([]float64, 8)
	for i := range y {
		y[i] = a[i] - b[i]/2 + 1e-3*float64(i*i%5)
	}
	y = one(8).unit(y)
	s := selection{df: 7, terms: 2, enough: 2}
	if f := forward(y, [][]float64{a, b}, s); len(f.chosen) != 2 {
		t.Fatalf("without the restriction: %v", f)
	}
	s.positive = true
	if f := forward(y, [][]float64{a, b}, s); len(f.chosen) != 1 || f.beta[0] < 0 {
		t.Errorf("with the restriction: %v", f)
	}
}

func TestForwardChoosesNothingFromNoise(t *testing.T) {
	y := one(6).unit([]float64{3, 1, 4, 1, 5, 9})
	c := one(6).unit([]float64{2, 7, 1, 8, 2, 8})
	if f := forward(y, [][]float64{c}, selection{df: 5, terms: 1, enough: 0.999, correct: true, positive: true}); len(f.chosen) != 0 || f.r2 != 0 {
		t.Errorf("chose %v, R² %v", f.chosen, f.r2)
	}
}

// A p of 0.03 does not count when two candidates were tried.
func TestForwardCorrectsForTries(t *testing.T) {
	y := one(8).unit([]float64{1, 2, 3, 4, 5, 6, 7, 8})
	c := [][]float64{one(8).unit([]float64{2, 1, 8, 3, 6, 5, 9, 8}), one(8).unit([]float64{5, -5, 1, 1, -1, -1, 5, -5})}
	s := selection{df: 7, terms: 1, enough: 2}
	f := forward(y, c, s)
	if len(f.chosen) != 1 || f.p[0] < 0.025 {
		t.Fatalf("the example must lie between: %+v", f)
	}
	s.correct = true
	if g := forward(y, c, s); len(g.chosen) != 0 {
		t.Errorf("chose %v with p %v", g.chosen, g.p)
	}
}
