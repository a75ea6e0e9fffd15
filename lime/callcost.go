package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// A callee's cost goes to its call sites by calls, per part (rule 6). That is
// right while all sites ask for the same work. A helper that is called with a
// small argument here and a large one there would be charged to the wrong
// place; but the threads call it in different proportions, so the cost of one
// call at each site can be solved for (rule 16, sitecosts.go). Compilers merge
// calls that differ in an argument alone: then the ways to the call are its sites.

// callShare says how a component's cost is shared out.
type callShare struct {
	each  map[profile.EventID][]float64 // the calls of one edge, weighted, by part, by the event that counts them; nil: all cost alike
	total []float64                     // Σ of these, or of the calls; nil: not called
	mixed bool                          // each is known, and from parts that called at several sites
	costs map[site]float64              // of one call; nil: all cost alike
}

// site is a call, and the way to it, both by the events that count them; the same
// where it does not matter how control comes there.
type site struct{ call, way profile.EventID }

// calls are the n calls of an edge, weighted.
func (s *callShare) calls(e profile.EventID, n []float64) []float64 {
	if s.each == nil {
		return n
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
	var sites, ways callSites
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
		name := c.graph.siteOf(edge)
		sites.add(site{e, e}, name, n)
		for _, way := range c.waysTo(c.graph.p.Graph.Edges[edge].From, e) {
			ways.add(site{e, way}, name, c.table.counts(way))
		}
	}
	cost := c.comp[k]
	switch {
	case !known:
		if n := c.entries(k); n != nil {
			s.total = n
		}
	case cost != nil && len(ways.sites) > 1:
		c.solve(s, cost, &sites, &ways, func() bool { return c.told(k) }, func(o *costs) *callShare { return o.shares[k] })
	}
	return s
}

// solve finds what one call costs at each of some sites, from an instance by itself,
// or from many of the section, where a call costs in all the same.
func (c *costs) solve(s *callShare, cost []float64, sites, ways *callSites, told func() bool, of func(*costs) *callShare) {
	if alike(cost, s.total, siteAlike) {
		return
	}
	byWay := told()
	if sites.solve(c.table, s, cost, true, byWay) || len(ways.sites) > len(sites.sites) && ways.solve(c.table, s, cost, false, byWay) {
		return
	}
	if o := c.pool.all(); o != nil {
		if p := of(o); p != nil && p.mixed && !sites.apply(s, cost, p.costs) {
			ways.apply(s, cost, p.costs)
		}
	}
}

// waysTo are the events that count how control came to a block that an event counts,
// or to the straight code before it, where it did so in several ways; else the event.
func (c *costs) waysTo(v profile.BlockID, e profile.EventID) (ways []profile.EventID) {
	if v < 0 {
		return []profile.EventID{e}
	}
	for d := c.graph.idom(v); d >= 0 && c.graph.headed(v) < 0 && len(c.graph.ins.Of(int(v))) == 1 && c.straight(d); d = c.graph.idom(v) {
		v = d
	}
	n, sum := c.table.counts(e), c.table.vector()
	for _, i := range c.graph.ins.Of(int(v)) {
		way := c.graph.p.Graph.Edges[i].Count
		m := c.table.counts(way)
		if m == nil || c.graph.back[i] || slices.Contains(ways, way) {
			return []profile.EventID{e}
		}
		if happened(m) {
			ways = append(ways, way)
			floats.Add(sum, m)
		}
	}
	if len(ways) < 2 || !floats.Equal(sum, n) {
		return []profile.EventID{e}
	}
	return ways
}

// callSites are the calls of a component, by where they are made.
type callSites struct {
	sites  []site
	names  []int32 // the first copy of each call in the source; below 0: of several
	counts [][]float64
	times  []float64 // how many calls of one block are counted together
}

func (x *callSites) add(at site, name int32, n []float64) {
	j := slices.Index(x.sites, at)
	if j < 0 {
		x.sites, x.names, x.counts, x.times = append(x.sites, at), append(x.names, name), append(x.counts, slices.Clone(n)), append(x.times, 1)
		return
	}
	floats.Add(x.counts[j], n) // two calls in one block
	x.times[j]++
	if x.names[j] != name {
		x.names[j] = -1 - int32(j)
	}
}

// solve finds the cost of a call at each site of the source, or else at each
// site of the code: compilers copy calls, and copies ask for the same work. ok is
// whether they are told apart for good, as where the site alone tells what is done (told.go);
// else it is the better guess, where one may.
func (x *callSites) solve(t *table, s *callShare, cost []float64, guess, told bool) (ok bool) {
	for _, names := range [][]int32{x.names, nil} {
		var groups []int32
		var counts [][]float64
		of := make([]int, len(x.sites))
		for j := range x.sites {
			name := int32(j)
			if names != nil {
				name = names[j]
			}
			if of[j] = slices.Index(groups, name); of[j] < 0 {
				of[j], groups = len(groups), append(groups, name)
				counts = append(counts, make([]float64, len(cost)))
			}
			floats.Add(counts[of[j]], x.counts[j])
		}
		each, proven := siteCosts(cost, counts, t.who(), guess || told)
		proven = proven || told
		if each == nil || !proven && (!guess || s.costs != nil) {
			continue
		}
		costs := make(map[site]float64, len(x.sites))
		for j, at := range x.sites {
			costs[at] = each[of[j]]
		}
		if !x.apply(s, cost, costs) {
			continue
		}
		if s.mixed = proven && (told || t.mixed(counts)); s.mixed {
			return true
		}
	}
	return false
}

// apply shares a cost out by what one call costs at each site, if that is known of all
// and makes up the cost, here too.
func (x *callSites) apply(s *callShare, cost []float64, costs map[site]float64) bool {
	if len(x.sites) == 0 {
		return false
	}
	total := make([]float64, len(cost))
	for j, at := range x.sites {
		each, known := costs[at]
		if !known {
			return false
		}
		floats.AddScaled(total, each, x.counts[j])
	}
	if floats.Distance(total, cost, 2) > siteFit*floats.Norm(cost, 2) {
		return false
	}
	s.total, s.each, s.costs, s.mixed = total, make(map[profile.EventID][]float64, len(x.sites)), costs, true
	for j, at := range x.sites {
		if s.each[at.call] == nil {
			s.each[at.call] = make([]float64, len(cost))
		}
		floats.AddScaled(s.each[at.call], costs[at]/x.times[j], x.counts[j])
	}
	return true
}

// mixed reports whether each site was called by some part that called at another one too,
// or, where all parts begin alike, by several threads. Otherwise a site may stand for who
// called: threads that enter one function in different ways.
func (t *table) mixed(counts [][]float64) bool {
	alike := !slices.ContainsFunc(t.parts, func(p profile.Part) bool { return p.Begin != t.parts[0].Begin })
	for j := range counts {
		other, first := false, -1
		for c, n := range counts[j] {
			if n == 0 {
				continue
			}
			if first < 0 {
				first = c
			}
			other = other || alike && t.parts[c].Thread != t.parts[first].Thread
			for i := range counts {
				other = other || i != j && counts[i][c] > 0
			}
		}
		if !other {
			return false
		}
	}
	return true
}
