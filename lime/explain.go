package lime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// analysis is everything about one instance (or several pooled ones) on the
// way to its causes.
type analysis struct {
	finder
	instances []*instance
	ranked    bool      // parts are ranks, not threads
	idle      float64   // Σ (max T − T)
	response  []float64 // T
	centred   []float64 // T less its mean
	variation float64   // ‖centred‖²
	r2        float64   // how much of it is accounted for
	findings  []finding
	// Where threads take their work themselves, and how much of T's variation
	// that is; 0: nowhere.
	dealt      profile.Addr
	dealtShare float64
	byPieces   bool // it is how uneven the pieces are, not how many each took
}

// finding is a cause in one instance.
type finding struct {
	id          identity
	line        identity // of its line, wherever that was inlined; nil: it has none
	origin      origin
	cost        cost
	share       float64
	score       float64 // equation 2
	beta        float64
	leaderScore float64 // equation 1
	p           float64 // of the F test; NaN: nothing was fitted
}

// origin is where a cause arises: a steering, a start or a hardware event.
type origin interface {
	describe(a *analysis) Cause
}

// analysis runs the stages on some instances: table, costs, clusters, leaders,
// and one of the three ways to tell which leaders explain T.
func (an *Analyser) analysis(opt Options, r *room, p *pool, instances ...*instance) *analysis {
	t := r.table(len(an.p.Events), instances...)
	a := &analysis{instances: instances, finder: finder{graph: an.graph, sources: an.sources, lines: an.lines, table: t, stop: opt.Stop}}
	for _, in := range instances {
		a.response = append(a.response, in.response...)
		a.idle += in.idle
		a.ranked = a.ranked || in.ranked
	}
	a.centred = t.centre(a.response)
	a.variation = floats.Dot(a.centred, a.centred)
	if a.variation == 0 {
		return a
	}
	a.unit = t.unit(a.response)
	var own *misses
	if opt.Response == profile.ModelCycles {
		own = newMisses(an.p, t, an.lineOf)
	}
	a.costs = newCosts(an.graph, t, p, own.following)
	counted := opt.Response.Counted()
	a.clusters = newClusters(an.graph, t, !counted, string(opt.Response), opt.Stop, opt.Bulk)
	switch {
	case opt.Method == Paper:
		a.byPaper()
	case counted:
		a.byMatchingPursuit(own)
	default:
		a.byRegression()
	}
	return a
}

// add keeps a finding, which outlives the room of the analysis.
func (a *analysis) add(f finding) {
	if x, ok := f.cost.(units); ok {
		f.cost = units{slices.Clone(x.cost), slices.Clone(x.executed)}
	}
	a.findings = append(a.findings, f)
}

// byMatchingPursuit chooses by exact costs (rule 7).
func (a *analysis) byMatchingPursuit(own *misses) {
	leaders := slices.DeleteFunc(a.withBodies(a.withCopies(a.deciding())), a.handsOut) // before T is taken for good
	if own != nil {
		leaders = append(leaders, own.leaders(a)...)
	}
	p := newMatchingPursuit(a.table, a.centred, leaders)
	byStart := a.dealt == 0 && !a.ranked && len(a.table.groups) == 1 && a.startsDecide(p)
	if byStart {
		a.byStart(p)
	}
	p.run()
	found, before := a.bothWays(a.onePerSource(p)), len(a.findings)
	for _, x := range found {
		cost := a.table.centre(x.cost)
		beta := math.Sqrt(floats.Dot(cost, cost) / a.variation)
		a.add(finding{
			id: a.sourceOf(&x), line: x.sourceID(a.lines), origin: x.steering, cost: units{x.cost, x.taken},
			share: floats.Dot(cost, a.centred) / a.variation, beta: beta, score: beta * x.score, leaderScore: x.score, p: math.NaN(),
		})
	}
	if a.dealt == 0 && p.unexplained() > muchUnexplained && !a.ranked && len(a.table.groups) == 1 && !byStart {
		a.byStart(p)
	}
	a.noteUneven(found, a.findings[before:])
	a.addMisses(p)
	a.r2 = 1 - p.unexplained()
}

// sourceOf is what a leader is known by in the source.
func (a *analysis) sourceOf(x *leader) identity {
	if x.byLine {
		return x.sourceID(a.lines)
	}
	return x.sourceID(a.sources)
}

// onePerSource are the leaders that were chosen; copies that were taken one by
// one are one. Two ways on of one branch that are one place of the source, as where each
// only sets a number, are left to bothWays.
func (a *analysis) onePerSource(p *matchingPursuit) (list []leader) {
	var ids []identity
	for _, j := range p.chosen {
		x := p.candidates[j].leader
		if x.misses != nil {
			continue
		}
		id, at := a.sourceOf(&x), -1
		for i := range list {
			if ids[i] == id && !a.evenOut(&list[i], &x) {
				at = i
				break
			}
		}
		if at >= 0 {
			list[at] = a.joined(list[at], x)
		} else {
			list, ids = append(list, x), append(ids, id)
		}
	}
	return list
}

// share is how much of T's variation a leader's cost goes with.
func (a *analysis) share(x *leader) float64 { return floats.Dot(a.table.centre(x.cost), a.centred) }

// evenOut: two leaders are ways on from one block, and who goes one is spared the other.
func (a *analysis) evenOut(x, y *leader) bool {
	return a.sameBranch(x.decision, y.decision) && x.out().block == y.out().block && x.out().to != y.out().to && a.share(x)*a.share(y) < 0
}

// bothWays joins to a branch what its other way on costs, where that makes up
// for a part of it: who goes one way is spared the other (rule 9).
func (a *analysis) bothWays(list []leader) (out []leader) {
	var spared []leader
	for i := range list {
		if a.share(&list[i]) < 0 {
			spared = append(spared, list[i])
		} else {
			out = append(out, list[i])
		}
	}
	for _, y := range spared {
		i := slices.IndexFunc(out, func(x leader) bool { return a.sameBranch(x.decision, y.decision) })
		if i < 0 {
			out = append(out, y)
			continue
		}
		out[i].cost = floats.AddTo(a.table.vector(), out[i].cost, y.cost)
	}
	return out
}

// sameBranch: two decisions are ways on of one branch of the source.
func (a *analysis) sameBranch(x, y decision) bool {
	_, one := x.(branch)
	_, other := y.(branch)
	return one && other && a.sources.last[x.out().block] == a.sources.last[y.out().block]
}

// byRegression is the paper's regression, repaired (rule 8).
func (a *analysis) byRegression() {
	leaders := make([][]leader, len(a.clusters.size))
	for _, x := range a.leaders() {
		if a.graph.deals(x.decision) { // what a piece costs is known in instructions only
			a.note(&x, 1)
			continue
		}
		if a.handsOut(x) {
			continue
		}
		leaders[x.cluster] = append(leaders[x.cluster], x)
	}
	for l := range leaders {
		leaders[l] = a.joinCopies(leaders[l])
	}
	var ids []int
	var columns [][]float64
	for _, l := range a.clusters.bySize() {
		if (len(leaders[l]) > 0 || !a.clusters.control[l]) && floats.Dot(a.clusters.unit[l], a.unit) > 0 {
			ids, columns = append(ids, l), append(columns, a.clusters.unit[l])
		}
	}
	df := len(a.response) - len(a.table.groups)
	fit := forward(a.unit, columns, selection{df: df, terms: max(1, df/3), enough: 0.999, correct: true, positive: true})
	a.r2 = fit.r2
	for i, j := range fit.chosen {
		if l := ids[j]; a.clusters.control[l] {
			a.split(leaders[l], fit.beta[i], fit.p[i])
		} else {
			a.addHardware(l, fit.beta[i], fit.p[i])
		}
	}
}

// split shares a control-flow cluster's coefficient out over its leaders, by
// how much of T's variation each one's cost covers.
func (a *analysis) split(leaders []leader, beta, p float64) {
	all := floats.Sum(a.costs.executed)
	if all == 0 {
		return // nothing was executed that is known
	}
	perInstruction := floats.Sum(a.response) / all
	cov, total := make([]float64, len(leaders)), 0.0
	for i, x := range leaders {
		cov[i] = max(0, perInstruction*floats.Dot(a.table.centre(x.cost), a.centred))
		total += cov[i]
	}
	for i, x := range leaders {
		if cov[i] == 0 {
			continue
		}
		cost := append([]float64(nil), x.cost...)
		floats.Scale(perInstruction, cost)
		a.add(finding{
			id: x.sourceID(a.sources), origin: x.steering, cost: units{cost, x.taken},
			share: cov[i] / a.variation, beta: beta, score: beta * x.score * cov[i] / total, leaderScore: x.score, p: p,
		})
	}
}

// addHardware makes a cause of each event of a hardware cluster. All have the
// cluster's coefficient as score (3.5); its part of T's variation is shared
// out by how much their counts vary.
func (a *analysis) addHardware(l int, beta, p float64) {
	corr := floats.Dot(a.clusters.unit[l], a.unit)
	var events []profile.EventID
	var sd []float64
	for _, e := range a.clusters.events {
		if a.clusters.of(e) == l {
			v, _ := a.table.adjusted(a.graph.p.Events, e)
			events, sd = append(events, e), append(sd, floats.Norm(v, 2))
		}
	}
	total := floats.Sum(sd)
	for i, e := range events {
		w := sd[i] / total
		cost := append([]float64(nil), a.clusters.unit[l]...)
		floats.Scale(w*beta*math.Sqrt(a.variation), cost)
		a.add(finding{
			id: hardwareID{e}, origin: hardware{e, []profile.EventID{e}, l}, cost: divisible(cost),
			share: w * beta * corr, beta: beta, score: beta, leaderScore: math.NaN(), p: p,
		})
	}
}
