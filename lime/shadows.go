package lime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// With many threads nearly all of clustering is dot products, and nearly all of these
// are far below what is looked for. A shadow tells so from a few numbers: of a vector
// the coordinates in which most of the vectors' length lies, and the length of the
// rest. By Cauchy and Schwarz
//
//	a·b = Σ aᵢbᵢ (few) + Σ aᵢbᵢ (rest) ≤ Σ aᵢbᵢ (few) + ‖a rest‖ ‖b rest‖
//
// which is the dot product of their shadows: what that is too small for needs no
// closer look, and what is found is the same.

// axes is how many coordinates a shadow has beside the rest: with five, of a compiler's
// edges in 57 goroutines 4 % of the pairs are left.
const axes = 5

// shadowSlack is more than rounding can do to a dot product of vectors that are no
// longer than 1.
const shadowSlack = 1e-9

type shadow [axes + 1]float64

// shadows are those of some vectors.
type shadows struct {
	of   []shadow
	axis []int // the coordinates that each has; of vectors with fewer all
}

func newShadows(n int, vec func(int32) []float64) *shadows {
	s := &shadows{of: make([]shadow, n)}
	if n == 0 {
		return s
	}
	length := make([]float64, len(vec(0)))
	for i := range int32(n) {
		for d, x := range vec(i) {
			length[d] += x * x
		}
	}
	s.axis = make([]int, len(length))
	floats.ArgsortStable(length, s.axis)
	slices.Reverse(s.axis)
	s.axis = s.axis[:min(axes, len(s.axis))]
	for i := range int32(n) {
		s.cast(i, vec(i))
	}
	return s
}

// cast makes the shadow of a vector anew.
func (s *shadows) cast(i int32, v []float64) {
	x := &s.of[i]
	for k, d := range s.axis {
		x[k] = v[d]
	}
	rest := 0.0
	for d, y := range v {
		if !slices.Contains(s.axis, d) {
			rest += y * y
		}
	}
	x[axes] = math.Sqrt(rest)
}

// most is the greatest that the dot product of two vectors may be, but for rounding.
func (a *shadow) most(b *shadow) float64 {
	return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3] + a[4]*b[4] + a[5]*b[5]
}
