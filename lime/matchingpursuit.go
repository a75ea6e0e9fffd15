package lime

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// Instructions add up, so with exact counts nothing needs fitting: a leader
// accounts for what the instructions that it steers account for (rule 7).
// Matching pursuit (S. Mallat and Z. Zhang, 1993) takes away one leader's cost
// after the other until too little is left to explain; here the atoms have
// their size, and no coefficient.
const (
	worthTaking     = 0.01  // of var T: a leader must take away this much
	worthTakingRest = 0.9   // … or this much of what is left
	wellExplained   = 0.005 // of var T: little enough left
	muchUnexplained = 0.1   // of var T: left over, for the second pass and for START causes
	costCorr        = 0.9   // r(o, K_v): the cost must follow the decision's own count, or the difference arises further down
	costCorrLoose   = 0.5   // … in the second pass
	leastScore      = 0.02  // s_v of a leader whose event follows T
	inheritedBelow  = 0.1   // … and below this part of r(o, T) it has most of it from above
	nearlyAsGood    = 0.8   // of what such a leader explains: enough to go before it
	leastVariation  = 1e-4  // of var T: var K_v of a candidate
	pairsAmong      = 60
	pairsNotLarger  = 2 // σ_K ≤ 2σ_T: causes that even each other out in part
)

// candidate is a leader with its centred cost.
type candidate struct {
	leader
	centred   []float64 // K_v less its mean
	variation float64   // ‖centred‖²
	costCorr  float64   // r(o, K_v)
	total     float64   // Σ K_v
	ids       []identity
}

// matchingPursuit explains one instance's T by the exact costs of its leaders.
type matchingPursuit struct {
	candidates []candidate
	residual   []float64 // what of T (centred) is not explained yet
	variation  float64   // ‖T centred‖²
	chosen     []int
}

func newMatchingPursuit(t *table, response []float64, leaders []leader) *matchingPursuit {
	p := &matchingPursuit{residual: append([]float64(nil), response...), variation: floats.Dot(response, response)}
	for _, x := range leaders {
		if x.score < leastScore && x.corr > 0 {
			continue
		}
		centred := t.centre(x.cost)
		variation := floats.Dot(centred, centred)
		if variation <= leastVariation*p.variation {
			continue
		}
		corr := t.corr(x.taken, centred) / math.Sqrt(variation)
		if !x.unfolded && !t.accounts(x.taken, x.cost) {
			corr = 0
		}
		ids := []identity(nil)
		if x.misses != nil {
			corr, ids = 1, []identity{missesID{x.misses.line}}
		} else {
			ids = x.ids()
		}
		p.candidates = append(p.candidates, candidate{x, centred, variation, corr, floats.Sum(x.cost), ids})
	}
	return p
}

// run chooses until nothing more is worth choosing.
func (p *matchingPursuit) run() {
	corr := costCorr
	for p.unexplained() > wellExplained {
		if best := p.next(p.eligible(corr)); p.worth(best) {
			p.take(best)
			continue
		}
		if corr == costCorrLoose || p.unexplained() <= muchUnexplained {
			return
		}
		corr = costCorrLoose
	}
}

// next returns what to choose among some, which need not be worth it.
func (p *matchingPursuit) next(eligible []int) []int {
	best := p.single(eligible)
	if !p.worth(best) {
		// Two causes that even each other out in part: neither shows alone.
		best = p.best(p.pairs(p.largest(eligible, pairsNotLarger)))
	}
	if !p.worth(best) {
		// They may do so almost wholly; but then only an exact fit is no accident.
		best = p.best(p.pairs(p.largest(eligible, math.Inf(1))))
		if best != nil && p.unexplainedAfter(best) > wellExplained {
			best = nil
		}
	}
	return best
}

func (p *matchingPursuit) take(set []int) {
	p.chosen = append(p.chosen, set...)
	for _, j := range set {
		floats.Sub(p.residual, p.candidates[j].centred)
	}
}

// single returns the best single candidate. One of whose correlation less than
// a tenth arises there (a loop in a helper that others call more) stands back
// when one of the others explains nearly as much: several causes flow into it,
// and its cost hides them.
func (p *matchingPursuit) single(eligible []int) []int {
	best := p.best(singles(eligible))
	if best == nil || !p.candidates[best[0]].inherits() {
		return best
	}
	var others []int
	for _, j := range eligible {
		if !p.candidates[j].inherits() {
			others = append(others, j)
		}
	}
	other := p.best(singles(others))
	if other != nil && p.unexplained()-p.unexplainedAfter(other) >= nearlyAsGood*(p.unexplained()-p.unexplainedAfter(best)) {
		return other
	}
	return best
}

// inherits reports whether a candidate has most of its correlation from above, or does as
// it was told there.
func (c *candidate) inherits() bool {
	return c.told || c.corr > 0 && c.score < inheritedBelow*c.corr
}

// unexplained is the part of T's variance that is not explained.
func (p *matchingPursuit) unexplained() float64 {
	return floats.Dot(p.residual, p.residual) / p.variation
}

// unexplainedAfter is what would be left after some more.
func (p *matchingPursuit) unexplainedAfter(set []int) float64 {
	sum := 0.0
	for i, r := range p.residual {
		for _, j := range set {
			r -= p.candidates[j].centred[i]
		}
		sum += r * r
	}
	return sum / p.variation
}

// worth reports whether a set takes away enough of T, or nearly all that is
// left: costs are exact, so that is no accident.
func (p *matchingPursuit) worth(set []int) bool {
	if set == nil {
		return false
	}
	taken := p.unexplained() - p.unexplainedAfter(set)
	return taken >= worthTaking || taken >= worthTakingRest*p.unexplained()
}

// eligible lists the candidates that may still be chosen: neither they nor a
// copy of theirs has been, and their cost follows their count.
func (p *matchingPursuit) eligible(leastCorr float64) []int {
	taken := map[identity]bool{}
	for _, j := range p.chosen {
		for _, id := range p.candidates[j].ids {
			taken[id] = true
		}
	}
	var list []int
	for j := range p.candidates {
		c := &p.candidates[j]
		if c.costCorr >= leastCorr && !slices.ContainsFunc(c.ids, func(id identity) bool { return taken[id] }) {
			list = append(list, j)
		}
	}
	return list
}

// largest lists those that may form a pair: the 60 that differ most between
// threads, but not by more than some multiple of what T does.
func (p *matchingPursuit) largest(eligible []int, times float64) []int {
	var large []int
	for _, j := range eligible {
		if p.candidates[j].variation <= times*times*p.variation {
			large = append(large, j)
		}
	}
	sort.SliceStable(large, func(a, b int) bool { return p.candidates[large[a]].variation > p.candidates[large[b]].variation })
	return large[:min(len(large), pairsAmong)]
}

func singles(list []int) [][]int {
	sets := make([][]int, len(list))
	for i, j := range list {
		sets[i] = []int{j}
	}
	return sets
}

// pairs lists all pairs but those that stand for some same decision.
func (p *matchingPursuit) pairs(list []int) [][]int {
	var sets [][]int
	for i, a := range list {
		for _, b := range list[:i] {
			ids := p.candidates[b].ids
			if !slices.ContainsFunc(p.candidates[a].ids, func(id identity) bool { return slices.Contains(ids, id) }) {
				sets = append(sets, []int{min(a, b), max(a, b)})
			}
		}
	}
	return sets
}

// copiesExplain reports whether one decision, of which the parts ran copies of
// their own, explains nearly all.
func (p *matchingPursuit) copiesExplain() bool {
	return slices.ContainsFunc(p.eligible(costCorr), func(j int) bool {
		return p.candidates[j].byLine && p.unexplainedAfter([]int{j}) <= muchUnexplained
	})
}

// rank orders sets of candidates: what leaves least of T, to the per cent;
// then those that choose between ways, before places where a part merely
// begins; then the decision that its cost follows best, so that an outer one that
// lets through what an inner one decides stands back; then the event that
// follows T best; then the one that introduces most; then the outer one,
// which costs most.
type rank [6]float64

func (p *matchingPursuit) rank(set []int) rank {
	k := rank{math.Round(100 * p.unexplainedAfter(set))}
	for _, j := range set {
		c := &p.candidates[j]
		if d, ok := c.decision.(branch); ok && d.onlyWay {
			k[1]++
		}
		k[2] -= c.costCorr
		k[3] -= c.corr
		k[4] -= c.score
		k[5] -= c.total
	}
	for i := 2; i < 5; i++ {
		k[i] = math.Round(100 * k[i])
	}
	return k
}

func (a rank) less(b rank) bool { return slices.Compare(a[:], b[:]) < 0 }

// best returns the first of the best sets, or nil when there are none.
func (p *matchingPursuit) best(sets [][]int) []int {
	var best []int
	var at rank
	for _, s := range sets {
		if k := p.rank(s); best == nil || k.less(at) {
			best, at = s, k
		}
	}
	return best
}
