package lime

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// alpha is the level of the F test that a cluster must pass to enter.
const alpha = 0.05

// selection are the rules of forward selection (3.5, and its repair, rule 8).
type selection struct {
	df       int     // degrees of freedom before the first term: observations less means
	terms    int     // at most
	enough   float64 // stop when R² is at least this; above 1: never
	correct  bool    // p × candidates, as many were tried (Bonferroni)
	positive bool    // refuse steps that make a coefficient negative
}

// fitted is a regression model of T.
type fitted struct {
	chosen []int     // columns, in order of entry
	p      []float64 // of the F test at entry
	beta   []float64 // standardised coefficients: T has variance 1
	r2     float64
}

// forward selects among columns those that explain y, each by an F test on
// what it adds, until none of the others is significant. y has length 1 and
// mean 0, so have the columns but for their length.
func forward(y []float64, columns [][]float64, s selection) fitted {
	var f fitted
	orthogonal := make([][]float64, len(columns)) // each column's part that is orthogonal to the chosen ones
	sign := make([]bool, len(columns))
	for j, c := range columns {
		orthogonal[j] = append([]float64(nil), c...)
		sign[j] = floats.Dot(c, y) > 0
	}
	residual := append([]float64(nil), y...)
	rss, refused := 1.0, map[int]bool{}
	for len(f.chosen) < s.terms && 1-rss < s.enough {
		df := s.df - len(f.chosen) - 1
		if df < 1 {
			break
		}
		j, gain := bestColumn(orthogonal, columns, residual, rss, sign, refused)
		if j < 0 {
			break
		}
		after := max(0, rss-gain)
		p := pValue(rss, after, df)
		if s.correct {
			p = min(1, p*float64(len(columns)-len(f.chosen)))
		}
		if !(p < alpha) {
			break
		}
		refused[j] = true // chosen, or refused: not again in this model
		beta := solve(y, columns, append(f.chosen[:len(f.chosen):len(f.chosen)], j))
		if s.positive && (beta == nil || floats.Min(beta) < 0) {
			continue
		}
		f.chosen, f.p, f.beta = append(f.chosen, j), append(f.p, p), beta
		q := append([]float64(nil), orthogonal[j]...)
		normalise(q)
		floats.AddScaled(residual, -floats.Dot(residual, q), q)
		for i := range orthogonal {
			floats.AddScaled(orthogonal[i], -floats.Dot(orthogonal[i], q), q)
		}
		rss = floats.Dot(residual, residual)
		for i := range refused { // what was refused beside the old model may fit the new one
			refused[i] = false
		}
		for _, i := range f.chosen {
			refused[i] = true
		}
	}
	f.r2 = 1 - rss
	if len(f.chosen) == 0 {
		f.r2 = 0
	}
	return f
}

// bestColumn returns the column that adds most, and how much; ties, to nine
// digits, go to one that grows with y, then to the first.
func bestColumn(orthogonal, columns [][]float64, residual []float64, rss float64, sign []bool, refused map[int]bool) (int, float64) {
	at, best, most := -1, 0.0, 0.0
	for j := range orthogonal {
		if refused[j] {
			continue
		}
		n := floats.Dot(orthogonal[j], orthogonal[j])
		if n <= 1e-12*floats.Dot(columns[j], columns[j]) {
			continue // nothing that the chosen ones do not say
		}
		d := floats.Dot(orthogonal[j], residual)
		gain := d * d / n
		left := math.Round(1e9 * (rss - gain))
		if at < 0 || left < best || left == best && sign[j] && !sign[at] {
			at, best, most = j, left, gain
		}
	}
	return at, most
}

// pValue is the F test's for one more term that brings the residual from
// before to after with df degrees of freedom left.
func pValue(before, after float64, df int) float64 {
	if after <= 1e-12 { // an exact fit
		if before > 1e-9 {
			return 0
		}
		return 1
	}
	f := (before - after) / (after / float64(df))
	return distuv.F{D1: 1, D2: float64(df)}.Survival(f)
}

// solve returns the least-squares coefficients of some columns; nil when they
// are not independent.
func solve(y []float64, columns [][]float64, chosen []int) []float64 {
	x := mat.NewDense(len(y), len(chosen), nil)
	for k, j := range chosen {
		x.SetCol(k, columns[j])
	}
	var b mat.VecDense
	if err := b.SolveVec(x, mat.NewVecDense(len(y), y)); err != nil {
		return nil
	}
	return b.RawVector().Data
}
