package lime

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// Instructions add up, so with exact counts nothing needs fitting: a leader
// accounts for what the instructions that it steers account for (design,
// "LIME, exactly", rule 7). Pursuit takes away one leader's cost after the
// other until too little is left to explain.
const (
	enterAt     = 0.01  // of var T: a leader must take away this much
	nearlyAll   = 0.9   // … or this much of what is left
	doneAt      = 0.005 // of var T: little enough left
	followAt    = 0.9   // r(o, K_v): K_v must follow the decision's own count, or the difference arises further down
	followLoose = 0.5   // … in the second pass
	looseOver   = 0.1   // of var T: left over, for the second pass and for START causes
	leastScore  = 0.02  // s_v of a leader whose event follows T
	weakScore   = 0.1   // … and below this part of r(o, T) it has most of it from above
	nearlyAs    = 0.8   // of what such a leader explains: enough to go before it
	leastCost   = 1e-4  // of var T: var K_v of a candidate
	pairsAmong  = 60
)

// candidate is a leader with its centred cost.
type candidate struct {
	leader
	kc     []float64
	norm   float64 // ‖kc‖²
	follow float64 // r(o, K_v)
	total  float64 // Σ K_v
}

// pursuit explains one instance's T by the exact costs of its leaders.
type pursuit struct {
	cand   []candidate
	rest   []float64 // what of T (centred) is not explained yet
	tss    float64   // ‖T centred‖²
	chosen []int
}

func newPursuit(t *table, tc []float64, leaders []leader) *pursuit {
	p := &pursuit{rest: append([]float64(nil), tc...), tss: floats.Dot(tc, tc)}
	for _, x := range leaders {
		if x.s < leastScore && x.r > 0 {
			continue
		}
		kc := t.centre(x.k)
		norm := floats.Dot(kc, kc)
		if norm <= leastCost*p.tss {
			continue
		}
		follow := floats.Dot(t.unit(x.n), kc) / math.Sqrt(norm)
		if !t.accounts(x.n, x.k) {
			follow = 0
		}
		p.cand = append(p.cand, candidate{x, kc, norm, follow, floats.Sum(x.k)})
	}
	return p
}

// run chooses until nothing more is worth choosing.
func (p *pursuit) run() {
	level := followAt
	for p.left() > doneAt {
		free := p.free(level)
		best := p.single(free)
		if !p.enters(best) {
			// Two causes that even each other out in part: neither shows alone.
			best = p.best(p.pairs(p.largest(free, 2)))
		}
		if !p.enters(best) {
			// They may do so almost wholly; but then only an exact fit is no accident.
			best = p.best(p.pairs(p.largest(free, math.Inf(1))))
			if best != nil && p.leaves(best) > doneAt {
				best = nil
			}
		}
		if p.enters(best) {
			p.chosen = append(p.chosen, best...)
			for _, j := range best {
				floats.Sub(p.rest, p.cand[j].kc)
			}
			continue
		}
		if level == followLoose || p.left() <= looseOver {
			return
		}
		level = followLoose
	}
}

// single returns the best single candidate. One of whose correlation less than
// a tenth arises there (a loop in a helper that others call more) stands back
// when one of the others explains nearly as much: several causes flow into it,
// and its cost hides them.
func (p *pursuit) single(free []int) []int {
	best := p.best(singles(free))
	if best == nil || !p.cand[best[0]].weak() {
		return best
	}
	var strong []int
	for _, j := range free {
		if !p.cand[j].weak() {
			strong = append(strong, j)
		}
	}
	other := p.best(singles(strong))
	if other != nil && p.left()-p.leaves(other) >= nearlyAs*(p.left()-p.leaves(best)) {
		return other
	}
	return best
}

func (c *candidate) weak() bool { return c.r > 0 && c.s < weakScore*c.r }

// left is the part of T's variance that is not explained.
func (p *pursuit) left() float64 { return floats.Dot(p.rest, p.rest) / p.tss }

// leaves is what would be left after some more.
func (p *pursuit) leaves(set []int) float64 {
	sum := 0.0
	for i, r := range p.rest {
		for _, j := range set {
			r -= p.cand[j].kc[i]
		}
		sum += r * r
	}
	return sum / p.tss
}

// enters reports whether a set takes away enough of T, or nearly all that is
// left: costs are exact, so that is no accident.
func (p *pursuit) enters(set []int) bool {
	if set == nil {
		return false
	}
	taken := p.left() - p.leaves(set)
	return taken >= enterAt || taken >= nearlyAll*p.left()
}

// free lists the candidates that may still be chosen: neither they nor a copy
// of theirs has been.
func (p *pursuit) free(level float64) []int {
	taken := map[key]bool{}
	for _, j := range p.chosen {
		for _, k := range p.cand[j].keys() {
			taken[k] = true
		}
	}
	var free []int
	for j := range p.cand {
		if p.cand[j].follow >= level && !slices.ContainsFunc(p.cand[j].keys(), func(k key) bool { return taken[k] }) {
			free = append(free, j)
		}
	}
	return free
}

// largest lists those of free that may form a pair: the 60 that differ most
// between threads, but not by more than some multiple of what T does.
func (p *pursuit) largest(free []int, times float64) []int {
	var big []int
	for _, j := range free {
		if p.cand[j].norm <= times*times*p.tss {
			big = append(big, j)
		}
	}
	sort.SliceStable(big, func(a, b int) bool { return p.cand[big[a]].norm > p.cand[big[b]].norm })
	return big[:min(len(big), pairsAmong)]
}

func singles(free []int) [][]int {
	sets := make([][]int, len(free))
	for i, j := range free {
		sets[i] = []int{j}
	}
	return sets
}

func (p *pursuit) pairs(big []int) [][]int {
	var sets [][]int
	for i, a := range big {
		for _, b := range big[:i] {
			if p.cand[a].shares(&p.cand[b].leader) {
				continue
			}
			sets = append(sets, []int{min(a, b), max(a, b)})
		}
	}
	return sets
}

// rank orders sets of candidates: what leaves least of T, to the per cent;
// then those that choose between ways, before places where a part merely
// begins; then the decision that its cost follows best, so that an outer one that
// lets through what an inner one decides stands back; then the event that
// follows T best; then the one that introduces most; then the outer one,
// which costs most.
type rank [6]float64

func (p *pursuit) rank(set []int) rank {
	k := rank{math.Round(100 * p.leaves(set))}
	for _, j := range set {
		if p.cand[j].begins {
			k[1]++
		}
		k[2] -= p.cand[j].follow
		k[3] -= p.cand[j].r
		k[4] -= p.cand[j].s
		k[5] -= p.cand[j].total
	}
	for i := 2; i < 5; i++ {
		k[i] = math.Round(100 * k[i])
	}
	return k
}

func (a rank) less(b rank) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// best returns the first of the best sets, or nil when there are none.
func (p *pursuit) best(sets [][]int) []int {
	var best []int
	var at rank
	for _, s := range sets {
		if k := p.rank(s); best == nil || k.less(at) {
			best, at = s, k
		}
	}
	return best
}
