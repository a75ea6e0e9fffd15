package lime

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// start is the cause that threads begin an instance at different code.
type start struct{ slowest profile.Addr }

// byStart is the last resort of rule 7: threads that begin the instance at
// different code. What lies between such groups was decided before the
// section began.
func (a *analysis) byStart(p *matchingPursuit) {
	begins, mean, ok := a.byBegin(p.residual)
	if !ok {
		return
	}
	least := math.Inf(1)
	for _, b := range begins {
		least = min(least, mean[b])
	}
	cost := make([]float64, len(a.response))
	for i := range cost {
		cost[i] = mean[a.table.parts[i].Begin] - least
	}
	centred := a.table.centre(cost)
	residual := append([]float64(nil), p.residual...)
	floats.Sub(residual, centred)
	if floats.Dot(p.residual, p.residual)-floats.Dot(residual, residual) <= muchUnexplained*a.variation {
		return
	}
	p.residual = residual
	slowest := a.slowest()
	norm := floats.Dot(centred, centred)
	beta, corr := math.Sqrt(norm/a.variation), floats.Dot(centred, a.centred)/math.Sqrt(norm*a.variation)
	a.add(finding{
		id: startID{slowest}, origin: start{slowest}, cost: divisible(cost),
		share: beta * corr, score: beta * corr, beta: beta, leaderScore: corr, p: math.NaN(),
	})
}

// byBegin groups the parts by where they begin: the places in the order of
// their first parts, and the mean of v at each. ok is false when all begin
// alike, or it is not known of some.
func (a *analysis) byBegin(v []float64) (begins []profile.Addr, mean map[profile.Addr]float64, ok bool) {
	mean, n := map[profile.Addr]float64{}, map[profile.Addr]float64{}
	for i := range a.table.parts {
		b := a.table.parts[i].Begin
		if n[b] == 0 {
			begins = append(begins, b)
		}
		mean[b] += v[i]
		n[b]++
	}
	for b := range mean {
		mean[b] /= n[b]
	}
	return begins, mean, len(begins) > 1 && n[0] == 0
}

// slowest returns where the parts begin that take longest on average; the
// first of several. Sums of instructions are exact, so means that are equal are
// found to be (sums of quotients are not).
func (a *analysis) slowest() profile.Addr {
	begins, mean, _ := a.byBegin(a.response)
	slowest := begins[0]
	for _, b := range begins {
		if mean[b] > mean[slowest] {
			slowest = b
		}
	}
	return slowest
}
