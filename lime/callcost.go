package lime

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/skewlens/skewlens/profile"
)

// A callee's cost goes to its call sites by calls, per part (rule 6). That is
// right while all sites ask for the same work. A helper that is called with a
// small argument here and a large one there would be charged to the wrong
// place; but the threads call it in different proportions, so the cost of one
// call at each site can be solved for (rule 16). The solution is used only when
// no cost comes out negative and it explains the callee's cost to 1 %, or, with
// fewer than twice as many parts as sites, exactly: then the sites do differ,
// and nothing else does. With as many parts as sites there always is a
// solution; if it is positive it still is the better guess, since equal costs
// are refuted.
const (
	siteFit      = 0.01
	siteFitExact = 1e-6
	siteUnlike   = 0.05 // of the cost: equal costs are refuted by more than this
)

// callShare says how a component's cost is shared out.
type callShare struct {
	each  map[profile.EventID]float64 // weight of one call, by the event that counts it; nil: all alike
	total []float64                   // Σ weight × calls, by part; nil: not called
	mixed bool                        // each is known, and from parts that called at several sites
}

func (s *callShare) weight(e profile.EventID) float64 {
	if s.each == nil {
		return 1
	}
	return s.each[e]
}

// share returns how component k's cost goes to its callers. It must be
// complete: components are asked for after their last block.
func (c *costs) share(k int32) *callShare {
	if s := c.shares[k]; s != nil {
		return s
	}
	s := &callShare{}
	c.shares[k] = s
	var events []profile.EventID
	var counts [][]float64
	known := true
	for _, i := range c.graph.enters.Of(int(k)) {
		e := c.graph.p.Graph.Edges[c.graph.entering[i]].Count
		n := c.table.counts(e)
		if n == nil {
			known = false
			continue
		}
		if !happened(n) {
			continue
		}
		if s.total == nil {
			s.total = make([]float64, c.table.cols())
		}
		floats.Add(s.total, n)
		if j := indexOf(events, e); j < 0 {
			events, counts = append(events, e), append(counts, append([]float64(nil), n...))
		} else {
			floats.Add(counts[j], n) // two calls in one block
		}
	}
	if !known {
		if n := c.entries(k); n != nil {
			s.total = n
		}
		return s
	}
	cost := c.comp[k]
	if cost == nil || len(events) < 2 || len(events) > len(cost) {
		return s
	}
	if each := siteCosts(cost, s.total, counts); each != nil {
		s.each = make(map[profile.EventID]float64, len(events))
		clear(s.total)
		for j, e := range events {
			s.each[e] = each[j]
			floats.AddScaled(s.total, each[j], counts[j])
		}
		s.mixed = len(events) < len(cost) && mixed(counts)
	}
	return s
}

// mixed reports whether each site was called by some part that called at
// another one too. Otherwise a site may stand for who called: threads that
// enter one function in different ways.
func mixed(counts [][]float64) bool {
	for j := range counts {
		other := false
		for t, n := range counts[j] {
			for i := range counts {
				other = other || n > 0 && i != j && counts[i][t] > 0
			}
		}
		if !other {
			return false
		}
	}
	return true
}

func indexOf(events []profile.EventID, e profile.EventID) int {
	for j := range events {
		if events[j] == e {
			return j
		}
	}
	return -1
}

// siteCosts solves cost ≈ Σ each[j] × counts[j] by least squares; nil where
// the cost follows the total of the calls anyway, or where the answer is not
// to be trusted.
func siteCosts(cost, total []float64, counts [][]float64) []float64 {
	if t := floats.Dot(total, total); t > 0 {
		alike := append([]float64(nil), cost...)
		floats.AddScaled(alike, -floats.Dot(cost, total)/t, total)
		least := siteFit * 1e-3
		if len(cost) == len(counts) {
			least = siteUnlike
		}
		if floats.Norm(alike, 2) <= least*floats.Norm(cost, 2) {
			return nil
		}
	}
	x := mat.NewDense(len(cost), len(counts), nil)
	for j, n := range counts {
		x.SetCol(j, n)
	}
	var b mat.VecDense
	if err := b.SolveVec(x, mat.NewVecDense(len(cost), cost)); err != nil {
		return nil // sites that are always called together, or nearly so
	}
	each := b.RawVector().Data
	residual := append([]float64(nil), cost...)
	for j, n := range counts {
		if !(each[j] > 0) {
			return nil
		}
		floats.AddScaled(residual, -each[j], n)
	}
	varying := make([]float64, len(cost))
	centreInto(varying, cost)
	fit := siteFit
	if len(cost) < 2*len(counts) {
		fit = siteFitExact
	}
	if floats.Norm(residual, 2) > fit*max(floats.Norm(varying, 2), 1e-9*floats.Norm(cost, 2)) {
		return nil
	}
	return each
}
