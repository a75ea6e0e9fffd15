package lime

import (
	"slices"

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
	var sites callSites
	known := true
	for _, i := range c.graph.enters.Of(int(k)) {
		edge := c.graph.entering[i]
		e := c.graph.p.Graph.Edges[edge].Count
		n := c.table.counts(e)
		if n == nil {
			known = false
			continue
		}
		if !happened(n) {
			continue
		}
		if s.total == nil {
			s.total = c.table.vector()
		}
		floats.Add(s.total, n)
		sites.add(e, c.graph.siteOf(edge), n)
	}
	if !known {
		if n := c.entries(k); n != nil {
			s.total = n
		}
		return s
	}
	if cost := c.comp[k]; cost != nil {
		sites.solve(s, cost)
	}
	return s
}

// callSites are the calls of a component, by the events that count them.
type callSites struct {
	events []profile.EventID
	site   []int32 // by event: the first copy of its call in the source; below 0: of several
	counts [][]float64
}

func (x *callSites) add(e profile.EventID, site int32, n []float64) {
	j := slices.Index(x.events, e)
	if j < 0 {
		x.events, x.site, x.counts = append(x.events, e), append(x.site, site), append(x.counts, append([]float64(nil), n...))
		return
	}
	floats.Add(x.counts[j], n) // two calls in one block
	if x.site[j] != site {
		x.site[j] = -1 - int32(j)
	}
}

// solve finds the cost of a call at each site of the source, or else at each
// site of the code: compilers copy calls, and copies ask for the same work.
func (x *callSites) solve(s *callShare, cost []float64) {
	for _, groups := range [][]int32{x.site, nil} {
		var names []int32 // of the groups
		var counts [][]float64
		of := make([]int, len(x.events))
		for j := range x.events {
			name := int32(j)
			if groups != nil {
				name = groups[j]
			}
			if of[j] = slices.Index(names, name); of[j] < 0 {
				of[j], names = len(names), append(names, name)
				counts = append(counts, make([]float64, len(cost)))
			}
			floats.Add(counts[of[j]], x.counts[j])
		}
		if len(names) < 2 || len(names) > len(cost) {
			continue
		}
		each := siteCosts(cost, s.total, counts)
		if each == nil {
			continue
		}
		s.each = make(map[profile.EventID]float64, len(x.events))
		clear(s.total)
		for j, e := range x.events {
			s.each[e] = each[of[j]]
			floats.AddScaled(s.total, each[of[j]], x.counts[j])
		}
		s.mixed = len(names) < len(cost) && mixed(counts)
		return
	}
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
