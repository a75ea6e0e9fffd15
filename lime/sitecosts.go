package lime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/skewlens/skewlens/profile"
)

// What one call costs at each of several sites is solved for by least squares, from
// what each part took and how often it called where (rule 16). Sites that are called
// in fixed proportions cannot be told apart: of all solutions it is the one that is
// nearest to equal costs, as far as none is below 0. It is used only if equal costs
// are refuted, and the solution explains the cost to 1 %, or, with fewer than twice
// as many parts as unknowns, exactly: then the sites do differ, and nothing else
// does. With as many parts as unknowns there always is a solution; if all of it is
// positive it still is the better guess, but proves nothing. Nor does one of ways that a
// thread, or parts that came alike, have to themselves: one heavy thread that also goes
// another way is no sign that this costs more.
const (
	siteFit      = 0.01
	siteFitExact = 1e-6
	siteAlike    = siteFit * 1e-3 // of the cost: equal costs are refuted by more than this,
	siteUnlike   = 0.05           // or this, where nothing is proven
	siteSame     = 1e-12          // likewise, by rounding alone
	siteRank     = 1e-9           // of the largest singular value: what is less is 0
	siteKinds    = 0.2            // of the largest cost: costs that differ by less are of one kind
)

// siteCosts solves cost ≈ Σ each[j] × counts[j], all ≥ 0; nil where the cost follows
// the total of the calls anyway, or where the answer is not to be trusted. who are the
// threads of the parts, which may have several. proven is whether others than the parts
// that the costs are told by bear them out; of calls, which ask for what they ask for,
// whether there is more to explain than there are unknowns.
func siteCosts(cost []float64, counts [][]float64, who []profile.ThreadID, calls bool) (each []float64, proven bool) {
	if len(counts) < 2 {
		return nil, false
	}
	total := make([]float64, len(cost))
	for _, n := range counts {
		floats.Add(total, n)
	}
	if alike(cost, total, siteAlike) {
		return nil, false
	}
	if farOff(cost, counts, siteFit*scale(cost)) {
		return nil, false
	}
	y, columns, by := distinct(cost, counts, who)
	most := scale(y)
	each, rank := nearEqual(y, columns)
	residual := slices.Clone(y)
	for j, n := range columns {
		floats.AddScaled(residual, -each[j], n)
	}
	if len(y) < 2*rank {
		most *= siteFitExact
	} else {
		most *= siteFit
	}
	if floats.Norm(residual, 2) > most {
		return nil, false
	}
	if len(y) > rank && (calls || repeated(costAlike(each, columns), by)) {
		return each, true
	}
	if rank < len(counts) || floats.Min(each) <= 0 || len(y) == rank && alike(cost, total, siteUnlike) {
		return nil, false
	}
	return each, false
}

// scale is what the rest of a cost is measured by: how much that varies.
func scale(cost []float64) float64 {
	varying := make([]float64, len(cost))
	centreInto(varying, cost)
	return max(floats.Norm(varying, 2), 1e-9*floats.Norm(cost, 2))
}

// farOff reports whether no costs of any sign come near: most ways are like that, and
// seen so at little expense.
func farOff(y []float64, columns [][]float64, most float64) bool {
	rest := slices.Clone(y)
	var axes [][]float64
	for _, n := range columns {
		axis := slices.Clone(n)
		normalise(axis)
		for _, a := range axes {
			floats.AddScaled(axis, -floats.Dot(axis, a), a)
		}
		if floats.Norm(axis, 2) > siteRank {
			normalise(axis)
			floats.AddScaled(rest, -floats.Dot(rest, axis), axis)
			axes = append(axes, axis)
		}
	}
	return floats.Norm(rest, 2) > most+1e-8*floats.Norm(y, 2)
}

// alike reports whether a cost goes with the calls but for so much of it.
func alike(cost, total []float64, but float64) bool {
	t := floats.Dot(total, total)
	if t == 0 {
		return false
	}
	rest := slices.Clone(cost)
	floats.AddScaled(rest, -floats.Dot(cost, total)/t, total)
	return floats.Norm(rest, 2) <= but*floats.Norm(cost, 2)
}

// distinct leaves out parts in which a thread did the same as in another one: they say
// nothing more.
func distinct(cost []float64, counts [][]float64, who []profile.ThreadID) (y []float64, columns [][]float64, by []profile.ThreadID) {
	columns = make([][]float64, len(counts))
	for t := range cost {
		seen := false
		for k := 0; k < len(y) && !seen; k++ {
			seen = by[k] == who[t] && near(y[k], cost[t])
			for j := 0; j < len(counts) && seen; j++ {
				seen = columns[j][k] == counts[j][t]
			}
		}
		if seen {
			continue
		}
		y, by = append(y, cost[t]), append(by, who[t])
		for j := range counts {
			columns[j] = append(columns[j], counts[j][t])
		}
	}
	return y, columns, by
}

// nearEqual is the least-squares solution that is nearest to equal costs; who would
// have to cost less than nothing costs nothing. rank is how many of the columns are
// independent.
func nearEqual(y []float64, columns [][]float64) (each []float64, rank int) {
	each = make([]float64, len(columns))
	calls := 0.0
	for _, n := range columns {
		calls += floats.Sum(n)
	}
	equal := floats.Sum(y) / calls
	in := make([]int, len(columns))
	for j := range in {
		in[j] = j
	}
	for {
		x, r := nearest(y, columns, in, equal)
		rank = max(rank, r)
		least := -1
		for i := range x {
			if x[i] < 0 && (least < 0 || x[i] < x[least]) {
				least = i
			}
		}
		if least < 0 || len(in) == 1 {
			for i, j := range in {
				each[j] = max(0, x[i])
			}
			return each, rank
		}
		in = slices.Delete(in, least, least+1)
	}
}

// nearest is nearEqual over some of the columns, with costs of either sign: by the
// singular values of the columns, each in its own length, so that what changes least
// is what calls cost altogether.
func nearest(y []float64, columns [][]float64, in []int, equal float64) (x []float64, rank int) {
	a := mat.NewDense(len(y), len(in), nil)
	rest, length := slices.Clone(y), make([]float64, len(in))
	for i, j := range in {
		floats.AddScaled(rest, -equal, columns[j])
		length[i] = floats.Norm(columns[j], 2)
		for t, n := range columns[j] {
			a.Set(t, i, n/length[i])
		}
	}
	x = make([]float64, len(in))
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return x, len(in)
	}
	rank = svd.Rank(siteRank)
	var d mat.Dense
	if rank > 0 {
		svd.SolveTo(&d, mat.NewDense(len(y), 1, rest), rank)
	}
	for i := range x {
		if x[i] = equal; rank > 0 {
			x[i] += d.At(i, 0) / length[i]
		}
		if math.Abs(x[i]) < 1e-9*equal {
			x[i] = 0
		}
	}
	return x, rank
}

// costAlike are the columns, those of sites that cost about the same added up.
func costAlike(each []float64, columns [][]float64) (kinds [][]float64) {
	var costs []float64
	for j, n := range columns {
		k := slices.IndexFunc(costs, func(x float64) bool { return math.Abs(x-each[j]) <= siteKinds*floats.Max(each) })
		if k < 0 {
			k, costs, kinds = len(costs), append(costs, each[j]), append(kinds, make([]float64, len(n)))
		}
		floats.Add(kinds[k], n)
	}
	return kinds
}

// repeated reports whether what tells columns apart shows in more than one thread, and in
// parts that are not just the same. What one alone has fits it whatever that took.
func repeated(columns [][]float64, by []profile.ThreadID) bool {
	a := mat.NewDense(len(by), len(columns), nil)
	for j, n := range columns {
		for t, x := range n {
			a.Set(t, j, x/floats.Norm(n, 2))
		}
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThinU) {
		return false
	}
	var u mat.Dense
	svd.UTo(&u)
	rank := svd.Rank(siteRank)
	decides := func(same func(a, b int) bool) bool {
		return slices.ContainsFunc(grouped(len(by), same), func(g []int) bool {
			own := mat.NewDense(len(g), rank, nil)
			for i, t := range g {
				own.SetRow(i, u.RawRowView(t)[:rank])
			}
			return !svd.Factorize(own, mat.SVDNone) || svd.Values(nil)[0] > 1-siteRank
		})
	}
	return !decides(func(a, b int) bool { return by[a] == by[b] }) && !decides(func(a, b int) bool {
		return !slices.ContainsFunc(columns, func(n []float64) bool { return n[a] != n[b] })
	})
}

// near reports whether costs differ by rounding alone.
func near(a, b float64) bool { return math.Abs(a-b) <= siteSame*max(a, b) }

// grouped are the numbers below n, those that are the same together.
func grouped(n int, same func(a, b int) bool) (groups [][]int) {
	for t := range n {
		g := slices.IndexFunc(groups, func(g []int) bool { return same(g[0], t) })
		if g < 0 {
			g, groups = len(groups), append(groups, nil)
		}
		groups[g] = append(groups[g], t)
	}
	return groups
}
