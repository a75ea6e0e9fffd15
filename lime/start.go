package lime

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// startDecides is the part of var T between threads that begin in different
// functions, above which it is who began where that decides.
const startDecides = 0.9

// start is the cause that threads begin an instance at different code.
type start struct{ slowest profile.Addr }

// byStart is the last resort of rule 7: threads that begin the instance at
// different code. What lies between such groups was decided before the
// section began.
func (a *analysis) byStart(p *matchingPursuit) {
	begins, mean, ok := a.byBegin(p.residual)
	if !ok || a.waitedFor(begins) {
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
	slowest := a.slowest(begins)
	from, id := origin(start{slowest}), identity(startID{slowest})
	if d, ok := a.parting(begins, slowest); ok {
		from, id = d, d.sourceID(a.sources)
	}
	norm := floats.Dot(centred, centred)
	beta, corr := math.Sqrt(norm/a.variation), floats.Dot(centred, a.centred)/math.Sqrt(norm*a.variation)
	a.add(finding{
		id: id, origin: from, cost: divisible(cost),
		share: beta * corr, score: beta * corr, beta: beta, leaderScore: corr, p: math.NaN(),
	})
}

// waitedFor: all places that are counted are where threads waited for a runtime to have
// something to do for them: which it was says nothing of what they got.
func (a *analysis) waitedFor(begins []profile.Addr) bool {
	known := 0
	for _, at := range begins {
		b := a.graph.index().At(at)
		if b != profile.NoBlock && !a.graph.p.Graph.Blocks[b].Runtime {
			return false
		}
		if b != profile.NoBlock {
			known++
		}
	}
	return known > 0
}

// startsDecide: threads that were created for this instance, in different
// functions, differ by that and hardly otherwise. Whatever they do differently there, what sets them apart is
// who began where. Where each began elsewhere that is so of any two threads: then
// one decision of which each ran a copy, as of a body that was inlined into
// several functions, goes before.
func (a *analysis) startsDecide(p *matchingPursuit) bool {
	begins, mean, ok := a.byBegin(a.centred)
	if !ok || len(begins) == len(a.table.parts) && p.copiesExplain() {
		return false
	}
	ts := a.graph.p.Threads
	for _, q := range a.table.parts {
		i := sort.Search(len(ts), func(i int) bool { return ts[i].ID >= q.Thread })
		if i == len(ts) || ts[i].ID != q.Thread || ts[i].Start != q.Begin {
			return false // it went on from a place, as one that created the others
		}
	}
	between := 0.0
	for i := range a.table.parts {
		m := mean[a.table.parts[i].Begin]
		between += m * m
	}
	return between >= startDecides*a.variation
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

// slowest returns where the parts begin that take longest on average.
func (a *analysis) slowest(begins []profile.Addr) profile.Addr {
	slowest, most := profile.Addr(0), math.Inf(-1)
	for _, b := range begins {
		mean, n := 0.0, 0.0
		for i := range a.table.parts {
			if a.table.parts[i].Begin == b {
				n++
			}
		}
		for i := range a.response {
			if a.table.parts[i].Begin == b {
				mean += a.response[i] / n
			}
		}
		if mean > most {
			slowest, most = b, mean
		}
	}
	return slowest
}
