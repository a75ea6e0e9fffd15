package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// asWell is how much less than another count one correlates with T and goes with
// it as well: rounding, in hundredths.
const asWell = 0.005

// leader is a decision that steers execution into a cluster (3.4).
type leader struct {
	steering
	flows
	score float64   // equation 1
	corr  float64   // of how often it led into the cluster with T
	cost  []float64 // K_v: the instructions that it steers, per part
	// Of copies that were inlined at different calls; only their line is the same.
	byLine bool
	// Of a function that was inlined into itself: how often it goes round or further
	// says little of how much it does, which is decided again at each level.
	unfolded bool
	// A loop that goes round as often as the way that control came tells (told.go).
	told   bool
	misses *missing // no decision, but what a line misses in a cache; else nil
}

// steering says which decision steers execution into which cluster.
type steering struct {
	decision
	copies  []decision // the same decision of the source, elsewhere in the code
	cluster int
}

// flows are the counts around a decision, per part, over all its copies.
type flows struct {
	inflow []float64 // how often it was come to from outside
	visits []float64 // … and in all
	taken  []float64 // how often it led into the cluster
}

// departure is where a cluster's difference leaves a block: the out-edge that
// goes best with T. It is not settled yet what kind of decision that is.
type departure struct {
	way
	flows
	cluster int
	corr    float64
	// Where the block heads several loops and only some go round in the
	// cluster, the blocks of these; else nil.
	cycle blockSet
}

// finder looks for the leaders of one instance.
type finder struct {
	graph    *graph
	sources  *sources
	lines    *sources
	table    *table
	costs    *costs
	clusters *clusters
	unit     []float64 // T, standardised
	stop     float64   // the correlation from which on a vector is in a cluster
	// Departures that were put aside: their own in-flow seems to bring the difference.
	inherited []departure
}

// corr is Pearson's correlation of counts with T.
func (f *finder) corr(counts []float64) float64 { return f.table.corr(counts, f.unit) }

// leaders finds the leaders of all clusters (rule 5), block by block.
func (f *finder) leaders() []leader {
	var all []leader
	f.inherited = f.table.room.inherited[:0]
	for _, v := range f.vertices() {
		all = append(all, f.leadersAt(v)...)
	}
	f.table.room.inherited = f.inherited
	return append(all, f.leadersByCopies(f.inherited)...)
}

func (f *finder) leadersAt(v profile.BlockID) (all []leader) {
	inflow, visits := f.costs.inflow(v), f.visits(v)
	if inflow == nil || visits == nil {
		return nil // what came here is not known, so neither is what it changed
	}
	done, told := map[int]bool{}, false
	for _, i := range f.graph.outs.Of(int(v)) {
		l := f.clusters.ofEdge(f.graph, i)
		if l < 0 || done[l] {
			continue
		}
		done[l] = true
		d := f.departure(v, l, inflow, visits)
		repeats := f.inCluster(v, visits, d.taken, l)
		if repeats && f.choosesFirst(d) {
			if told {
				continue // by another of the loop's ways on
			}
			d = f.rounds(d)
		}
		told = told || repeats
		if x, ok := f.leads(d, l, repeats); ok {
			all = append(all, x)
		}
	}
	if !told {
		if x, ok := f.leadByRounds(v, inflow, visits); ok {
			all = append(all, x)
		}
	}
	return all
}

// leads makes a leader of a departure in cluster l, if what flows in does not bring that
// along, or else of ways that join there; or puts it aside.
func (f *finder) leads(d departure, l int, repeats bool) (x leader, ok bool) {
	if !f.inflowExplains(d.block, d.inflow, d.taken, l) {
		return f.lead(d, repeats)
	}
	if x, ok = f.leadByJoin(d.block, l, d.visits); !ok {
		f.inherited = append(f.inherited, d)
	}
	return x, ok
}

// departure finds which of the out-edges of v in cluster l goes best with T. Of
// those that go as well it is the one that more follows from: the few times that
// a search found something go with T as well as the many that it went on.
func (f *finder) departure(v profile.BlockID, l int, inflow, visits []float64) departure {
	d := departure{way: way{edge: -1}, cluster: l}
	most := -1.0
	for _, i := range f.graph.outs.Of(int(v)) {
		if f.clusters.ofEdge(f.graph, i) != l {
			continue
		}
		r := f.corr(f.table.counts(f.graph.p.Graph.Edges[i].Count))
		if d.edge >= 0 && r <= d.corr+asWell {
			if most < 0 {
				most = f.follows(d.edge)
			}
			if r < d.corr-asWell || f.follows(i) <= most {
				continue
			}
		}
		d.edge, d.corr, most = i, r, -1
	}
	e := &f.graph.p.Graph.Edges[d.edge]
	d.outcome = outcome{block: v, to: e.To, event: e.Count}
	d.flows = flows{inflow: inflow, visits: visits, taken: f.table.counts(e.Count)}
	if blocks, around := f.oneCycle(v, l); blocks != nil {
		d.cycle, d.inflow = blocks, around
	}
	return d
}

// follows is by how much what an edge leads to differs.
func (f *finder) follows(edge int32) float64 {
	cost := f.table.vector()
	f.costs.addUnder(cost, edge)
	return f.table.deviation(cost)
}

// inflowExplains reports whether what flows into v brings cluster l's
// difference along. Where calls from different sites are known to cost
// differently (callcost.go) that may show only when they are weighed so.
func (f *finder) inflowExplains(v profile.BlockID, flow, taken []float64, l int) bool {
	if f.inCluster(v, flow, taken, l) {
		return true
	}
	for _, x := range f.weighed(v) {
		if f.inCluster(v, x, taken, l) {
			return true
		}
	}
	return false
}

// inCluster reports whether what comes to v is in cluster l, and can be what
// makes a count vary.
func (f *finder) inCluster(v profile.BlockID, flow, taken []float64, l int) bool {
	return f.table.corr(flow, f.clusters.unit[l]) >= f.stop && f.accounts(v, flow, taken)
}

// accounts reports whether the variation of what flows into v is large enough
// to be what makes a count vary.
func (f *finder) accounts(v profile.BlockID, flow, taken []float64) bool {
	return f.table.accounts(flow, taken) || slices.ContainsFunc(f.weighed(v), func(x []float64) bool { return f.table.accounts(x, taken) })
}

// weighed is what comes to v by calls, or to the loop that it is in, where these are
// known to cost differently, each by its cost.
func (f *finder) weighed(v profile.BlockID) (list [][]float64) {
	if calls := f.costs.share(f.graph.compOf(v)); calls.mixed {
		list = append(list, calls.total)
	}
	if m := f.costs.beforeLoop(v); m != nil {
		list = append(list, m.total)
	}
	return list
}

// score is equation 1: what a decision in v adds to the correlation that flows
// in, where the in-flow is large enough to matter.
func (f *finder) score(v profile.BlockID, corr float64, x flows) float64 {
	if !f.accounts(v, x.inflow, x.taken) {
		return corr
	}
	return corr - max(0, f.corr(x.inflow))
}

// vertices returns the blocks that have some out-edge in a cluster, in order.
func (f *finder) vertices() []profile.BlockID {
	var vs []profile.BlockID
	for _, e := range f.clusters.events {
		for _, i := range f.graph.ofEvent.Of(int(e)) {
			if edge := &f.graph.p.Graph.Edges[i]; countable(f.graph, edge) {
				vs = append(vs, edge.From)
			}
		}
	}
	slices.Sort(vs)
	return slices.Compact(vs)
}

// visits counts how often v ran, by its own count or else by what came in;
// nil when that is unknown.
func (f *finder) visits(v profile.BlockID) []float64 {
	if n := f.table.counts(f.graph.p.Graph.Blocks[v].Count); n != nil {
		return n
	}
	sum := f.table.vector()
	for _, i := range f.graph.ins.Of(int(v)) {
		n := f.table.counts(f.graph.p.Graph.Edges[i].Count)
		if n == nil {
			return nil
		}
		floats.Add(sum, n)
	}
	return sum
}

// lead makes a leader of a departure: its block has out-edges in a cluster
// while what flows into it is not in it. Where the block's own count is
// (repeats), it is not a choice between ways but how often one goes round; ok
// is false where nothing does.
func (f *finder) lead(d departure, repeats bool) (x leader, ok bool) {
	x = f.begin(d)
	cost := x.cost
	switch {
	case !repeats:
		x.decision = f.branch(d)
		var ways []int32
		for _, i := range f.graph.outs.Of(int(d.block)) {
			if f.clusters.ofEdge(f.graph, i) == d.cluster {
				ways = append(ways, i)
			}
		}
		f.costs.addUnderAll(cost, ways)
	case d.cycle != nil:
		x.decision = cycle{d.way, d.cycle}
		f.costs.addBlocks(cost, d.cycle)
	case f.graph.headed(d.block) >= 0 && !f.deeper(d.block):
		x.decision, x.told = loop{d.way}, f.costs.toldRounds(d.block)
		if k := f.costs.loop[f.graph.headed(d.block)]; k != nil {
			floats.Add(cost, k)
		}
	case f.recursive(d.block):
		x.decision = recursion{d.way}
		if k := f.costs.comp[f.graph.compOf(d.block)]; k != nil {
			floats.Add(cost, k)
		}
	default:
		return x, false
	}
	return x, true
}

// begin is a leader of a departure of which neither is known what it decides nor what
// that costs.
func (f *finder) begin(d departure) leader {
	return leader{
		steering: steering{cluster: d.cluster}, flows: d.flows, corr: d.corr, score: f.score(d.block, d.corr, d.flows),
		cost: f.table.vector(), unfolded: f.sources.unfolded[d.block],
	}
}

// branch is a departure as a choice between ways on.
func (f *finder) branch(d departure) branch { return branch{d.way, f.waysOn(d.block) < 2} }

// waysOn counts where control may go from v; a call by pointer is a choice, a
// direct one is not.
func (f *finder) waysOn(v profile.BlockID) int {
	n := 0
	for _, i := range f.graph.outs.Of(int(v)) {
		if f.graph.p.Graph.Edges[i].Kind != profile.Call {
			n++
		}
	}
	return n
}

// oneCycle tells loops apart that share their head, as a loop does that begins
// with another (rule 17): where only some of the ways back to v are in cluster
// l it returns the blocks of their cycles, and how often v was come to otherwise. Ways
// back of one line are one loop's.
func (f *finder) oneCycle(v profile.BlockID, l int) (blocks blockSet, inflow []float64) {
	if f.graph.headed(v) < 0 || f.oneLatch(v) {
		return nil, nil
	}
	var mine []int32
	inflow = f.table.room.copied(f.costs.inflow(v))
	others := false
	for _, i := range f.graph.ins.Of(int(v)) {
		e := &f.graph.p.Graph.Edges[i]
		if !f.graph.back[i] || !f.graph.within(e) {
			continue
		}
		n := f.table.counts(e.Count)
		if n == nil {
			return nil, nil
		}
		if f.clusters.ofEdge(f.graph, i) == l {
			mine = append(mine, i)
		} else if happened(n) {
			others = true
			floats.Add(inflow, n)
		}
	}
	if len(mine) == 0 || !others {
		return nil, nil
	}
	return f.graph.cycle(v, mine), inflow
}

// recursive reports whether v is entered by a recursive call.
func (f *finder) recursive(v profile.BlockID) bool {
	return slices.ContainsFunc(f.graph.ins.Of(int(v)), func(i int32) bool {
		return f.graph.back[i] && f.graph.p.Graph.Edges[i].Kind.IsCall()
	})
}

// leadByJoin handles a choice that reaches v by several ways, none of them in
// the cluster alone although their sum is: a || b, or a jump that was threaded
// past its test. The choice is the immediate dominator's.
func (f *finder) leadByJoin(v profile.BlockID, l int, visits []float64) (x leader, ok bool) {
	block, ways := f.graph.idom(v), 0
	for _, i := range f.graph.ins.Of(int(v)) {
		if f.graph.back[i] {
			continue
		}
		ways++
		if f.clusters.ofEdge(f.graph, i) == l {
			return x, false
		}
	}
	event := f.graph.p.Graph.Blocks[v].Count
	if ways < 2 || block < 0 || event < 0 {
		return x, false
	}
	inflow := f.visits(block)
	if inflow == nil || f.inflowExplains(block, inflow, visits, l) {
		return x, false
	}
	x = leader{
		steering: steering{decision: join{outcome{block, v, event}}, cluster: l},
		flows:    flows{inflow: inflow, visits: inflow, taken: visits},
		corr:     f.corr(visits), cost: f.table.vector(),
	}
	x.score = f.score(block, x.corr, x.flows)
	f.costs.addDominated(x.cost, v)
	return x, true
}
