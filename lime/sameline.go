package lime

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// What stands once in the source is one cause, as often as the code has it, and in
// whatever of its ways the imbalance is: a function that is inlined twice where both
// copies run, one branch with several ways on, a loop of which unrolling made several.
// Who mends it mends one line. Costs are vectors, a number for each part, and add up; what
// evening saves does not. So costs are added, and what evening the sum saves is counted
// anew (rule 11).

// construct is what is shown of a decision: two that are shown alike are one. What tells
// conditions of one line apart is the column, where the line table has it.
type construct struct {
	kind         LeaderKind
	file         string
	line, column int
}

// constructOf is that of a cause; empty where it has none of the program's own: who calls
// a library decides what is one there (Result.Join).
func constructOf(p *profile.Profile, x *combined) construct {
	l, ok := p.Location(x.cause.Addr)
	if !ok || !l.Known() || l.Frame.System() || x.cause.Kind != controlFlow || x.cause.Leader == StartAt {
		return construct{}
	}
	return construct{x.cause.Leader, l.File, l.Line, l.Column}
}

// addUp sums up anew what several causes come to that are one: in each instance those
// that are in it are one finding.
func (c *combiner) addUp(x *combined) {
	ids := x.ids()
	x.share, x.score, x.beta, x.leaderScore, x.present, x.evened, x.scheduled = 0, 0, 0, 0, 0, 0, 0
	for _, k := range x.in {
		o := &c.outcomes[k]
		f := o.sum(ids)
		x.share += o.idle * f.share
		x.score += o.idle * f.score
		x.beta += o.idle * f.beta
		x.leaderScore += o.idle * f.leaderScore
		x.present += o.idle
		evened, scheduled := f.cost.saved(o.groups, o.response)
		x.evened, x.scheduled = x.evened+evened, x.scheduled+scheduled
	}
}

// sum is one finding for those that are of one cause. β is that of the summed cost; where
// something was fitted, which has no such thing, that of most of it, as the leader score is.
func (o *explained) sum(ids []identity) finding {
	var all []*finding
	for i := range o.findings {
		if f := &o.findings[i]; slices.Contains(ids, f.id) {
			all = append(all, f)
		}
	}
	first := slices.MaxFunc(all, func(f, g *finding) int { return cmp.Compare(f.share, g.share) })
	if len(all) == 1 {
		return *first
	}
	sum := finding{cost: unknownCost{}, beta: first.beta, leaderScore: first.leaderScore}
	total := units{make([]float64, len(o.response)), make([]float64, len(o.response))}
	known := true
	for _, f := range all {
		sum.share, sum.score = sum.share+f.share, sum.score+f.score
		if k, ok := f.cost.(units); ok {
			floats.Add(total.cost, k.cost)
			floats.Add(total.executed, k.executed)
		} else {
			known = false
		}
	}
	if !known {
		return sum
	}
	sum.cost = total
	if math.IsNaN(first.p) {
		t := o.centre(o.response)
		cost := o.centre(total.cost)
		sum.beta = math.Sqrt(floats.Dot(cost, cost) / floats.Dot(t, t))
		sum.score = sum.beta * sum.leaderScore
	}
	return sum
}

// ranking is what causes are made of, in their order.
type ranking struct {
	of        *combiner
	all       []*combined
	instances int
}

// rank lists the causes, those with the greatest share first.
func (r *Result) rank() {
	slices.SortStableFunc(r.ranked.all, func(a, b *combined) int {
		x, y := &a.cause, &b.cause
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(y.Score, x.Score),
			cmp.Compare(x.Addr, y.Addr), cmp.Compare(x.To, y.To), cmp.Compare(x.Kind, y.Kind))
	})
	r.Causes = nil
	for _, x := range r.ranked.all {
		r.Causes = append(r.Causes, x.cause)
	}
	r.Moved = r.ranked.of.moved(r.ranked.all[0].ids(), r.ranked.instances)
}

// Join makes one cause of each of some groups, by their numbers in Causes: what is decided
// in a library because of one call, say. The first of a group names it, and its counts stay.
// It reports whether there was anything to do.
func (r *Result) Join(groups [][]int) bool {
	if len(groups) == 0 || r.ranked.of == nil {
		return false
	}
	gone := map[*combined]bool{}
	for _, g := range groups {
		x := r.ranked.all[g[0]]
		for _, i := range g[1:] {
			y := r.ranked.all[i]
			gone[y] = true
			r.ranked.of.join(x, y)
		}
		r.ranked.of.number(x)
	}
	r.ranked.all = slices.DeleteFunc(r.ranked.all, func(x *combined) bool { return gone[x] })
	r.rank()
	return true
}
