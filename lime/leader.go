package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// leader is a vertex that steers execution into a cluster (3.4).
type leader struct {
	v       profile.BlockID
	kind    LeaderKind
	edge    int32           // the out-edge o that carries the difference; −1: several ways that meet
	event   profile.EventID // what counts it
	to      profile.BlockID // where it leads
	cluster int
	s       float64   // equation 1
	r       float64   // of the event with T
	n       []float64 // the event's counts, of all copies
	in, own []float64 // how often the decision was come to from outside, and in all; nil: unknown
	k       []float64 // K_v, instructions that it steers, per part; nil by the paper's rules
	cycle   blockSet  // of a loop that shares its head with another: its own blocks
	begins  bool      // there is one way on only: a part began there
	copies  []leader  // the same decision of the source, elsewhere in the code
}

// finder looks for the leaders of one instance.
type finder struct {
	g    *graph
	src  *sources
	t    *table
	c    *costs
	cs   *clusters
	unit []float64 // T, standardised
	stop float64
}

// r is Pearson's correlation of counts with T.
func (f *finder) r(x []float64) float64 { return floats.Dot(f.t.unit(x), f.unit) }

// leaders finds the leaders of all clusters by the repaired rules (design,
// "LIME, exactly", rule 5), block by block.
func (f *finder) leaders() []leader {
	var all, late []leader
	for _, v := range f.sources() {
		in, own := f.c.inflow(v), f.count(v)
		if in == nil || own == nil {
			continue // what came here is not known, so neither is what it changed
		}
		done := map[int]bool{}
		for _, i := range f.g.outs.Of(int(v)) {
			l := f.cs.of(f.g, i)
			if l < 0 || done[l] {
				continue
			}
			done[l] = true
			x := leader{v: v, cluster: l, in: in, own: own}
			f.follow(&x)
			cycle, around := f.oneCycle(v, l)
			if cycle != nil {
				x.cycle, x.in = cycle, around
			}
			if !f.brings(v, x.in, x.n, l) {
				if f.steers(&x, f.within(v, own, x.n, l)) {
					all = append(all, x)
				}
			} else if j, ok := f.joined(v, l, own); ok {
				all = append(all, j)
			} else {
				late = append(late, x)
			}
		}
	}
	return append(all, f.together(late)...)
}

// follow finds which of the out-edges of x.v in cluster x.cluster goes best
// with T.
func (f *finder) follow(x *leader) {
	x.edge = -1
	for _, i := range f.g.outs.Of(int(x.v)) {
		if f.cs.of(f.g, i) != x.cluster {
			continue
		}
		if r := f.r(f.t.of(f.g.p.Graph.Edges[i].Count)); x.edge < 0 || r > x.r+1e-12 {
			x.edge, x.r = i, r
		}
	}
	e := &f.g.p.Graph.Edges[x.edge]
	x.event, x.to, x.n = e.Count, e.To, f.t.of(e.Count)
}

// brings reports whether what flows into v brings cluster l's difference
// along. Where calls from different sites are known to cost differently
// (calls.go) that may show only when they are weighed so.
func (f *finder) brings(v profile.BlockID, flow, n []float64, l int) bool {
	if f.within(v, flow, n, l) {
		return true
	}
	calls := f.c.share(f.g.compOf(v))
	return calls.mixed && f.within(v, calls.total, n, l)
}

// within reports whether what comes to v is in cluster l, and can be what
// makes event n vary.
func (f *finder) within(v profile.BlockID, flow, n []float64, l int) bool {
	return floats.Dot(f.t.unit(flow), f.cs.unit[l]) >= f.stop && f.pays(v, flow, n)
}

// pays reports whether the variation of what flows into v can be what makes
// event n vary.
func (f *finder) pays(v profile.BlockID, flow, n []float64) bool {
	calls := f.c.share(f.g.compOf(v))
	return f.t.accounts(flow, n) || calls.mixed && f.t.accounts(calls.total, n)
}

// score is equation 1: what x adds to the correlation that flows in, where
// the in-flow is large enough to matter.
func (f *finder) score(x *leader) float64 {
	if !f.pays(x.v, x.in, x.n) {
		return x.r
	}
	return x.r - max(0, f.r(x.in))
}

// sources returns the blocks that have some out-edge in a cluster, in order.
func (f *finder) sources() []profile.BlockID {
	var vs []profile.BlockID
	for _, e := range f.cs.events {
		for _, i := range f.g.ofEvent.Of(int(e)) {
			if edge := &f.g.p.Graph.Edges[i]; countable(f.g, edge) {
				vs = append(vs, edge.From)
			}
		}
	}
	slices.Sort(vs)
	return slices.Compact(vs)
}

// count returns how often v ran, by its own count or else by what came in;
// nil when that is unknown.
func (f *finder) count(v profile.BlockID) []float64 {
	if n := f.t.of(f.g.p.Graph.Blocks[v].Count); n != nil {
		return n
	}
	sum := make([]float64, f.t.cols())
	for _, i := range f.g.ins.Of(int(v)) {
		n := f.t.of(f.g.p.Graph.Edges[i].Count)
		if n == nil {
			return nil
		}
		floats.Add(sum, n)
	}
	return sum
}

// steers makes x a leader: its vertex has out-edges in a cluster while what
// flows into it is not in it. Where its own count is (round), it is not a
// choice between ways but how often one goes round.
func (f *finder) steers(x *leader, round bool) bool {
	x.k, x.s = make([]float64, f.t.cols()), f.score(x)
	switch {
	case !round:
		x.kind, x.cycle, x.begins = Branch, nil, f.waysOn(x.v) < 2
		for _, i := range f.g.outs.Of(int(x.v)) {
			if f.cs.of(f.g, i) == x.cluster {
				f.c.addUnder(x.k, i)
			}
		}
	case x.cycle != nil:
		x.kind = Loop
		f.c.addBlocks(x.k, x.cycle)
	case f.g.headed(x.v) >= 0:
		x.kind = Loop
		if k := f.c.loop[f.g.headed(x.v)]; k != nil {
			floats.Add(x.k, k)
		}
	case f.recursive(x.v):
		x.kind = Recursion
		floats.Add(x.k, f.c.comp[f.g.compOf(x.v)])
	default:
		return false
	}
	return true
}

// waysOn counts where control may go from v; a call by pointer is a choice, a
// direct one is not.
func (f *finder) waysOn(v profile.BlockID) int {
	n := 0
	for _, i := range f.g.outs.Of(int(v)) {
		if f.g.p.Graph.Edges[i].Kind != profile.Call {
			n++
		}
	}
	return n
}

// oneCycle tells loops apart that share their head, as a loop does that begins
// with another: where only some of the ways back to v are in cluster l it
// returns the blocks of their cycles, and how often v was come to otherwise.
func (f *finder) oneCycle(v profile.BlockID, l int) (cycle blockSet, in []float64) {
	if f.g.headed(v) < 0 {
		return nil, nil
	}
	var mine []int32
	in = append([]float64(nil), f.c.inflow(v)...)
	others := false
	for _, i := range f.g.ins.Of(int(v)) {
		e := &f.g.p.Graph.Edges[i]
		if !f.g.back[i] || !f.g.within(e) {
			continue
		}
		n := f.t.of(e.Count)
		if n == nil {
			return nil, nil
		}
		if f.cs.of(f.g, i) == l {
			mine = append(mine, i)
		} else if happened(n) {
			others = true
			floats.Add(in, n)
		}
	}
	if len(mine) == 0 || !others {
		return nil, nil
	}
	return f.g.cycle(v, mine), in
}

// recursive reports whether v is entered by a recursive call.
func (f *finder) recursive(v profile.BlockID) bool {
	for _, i := range f.g.ins.Of(int(v)) {
		if f.g.back[i] && isCall(f.g.p.Graph.Edges[i].Kind) {
			return true
		}
	}
	return false
}

// joined handles a choice that reaches v by several ways, none of them in the
// cluster alone although their sum is: a || b, or a jump that was threaded
// past its test. The choice is the immediate dominator's.
func (f *finder) joined(v profile.BlockID, l int, own []float64) (leader, bool) {
	d, ways := f.g.idom(v), 0
	for _, i := range f.g.ins.Of(int(v)) {
		if f.g.back[i] {
			continue
		}
		ways++
		if f.cs.of(f.g, i) == l {
			return leader{}, false
		}
	}
	if ways < 2 || d < 0 || f.g.p.Graph.Blocks[v].Count < 0 {
		return leader{}, false
	}
	nd := f.count(d)
	if nd == nil || f.brings(d, nd, own, l) {
		return leader{}, false
	}
	x := leader{
		v: d, kind: Branch, edge: -1, event: f.g.p.Graph.Blocks[v].Count, to: v, cluster: l,
		r: f.r(own), n: own, in: nd, own: nd, k: make([]float64, f.t.cols()),
	}
	x.s = f.score(&x)
	f.c.addDominated(x.k, v)
	return x, true
}
