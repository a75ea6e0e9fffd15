package lime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// A function that all threads run may be inlined twice: into what threads begin
// in, and into the function that creates them and takes a share itself. Then
// one thread runs a copy of its own. Decisions of one source line that different
// parts ran, and none ran both, are copies whatever they were inlined at
// (rule 12). They come beside the others, which stay: that two lines look alike
// may be chance.

// withBodies adds to leaders those that stand for the copies that other parts
// ran, and those that only all copies together make: alone each goes with who
// runs it.
func (f *finder) withBodies(all []leader) []leader {
	by := *f
	by.sources = f.lines
	out := slices.Clip(all)
	seen := map[identity]bool{}
	for i := range all {
		if !by.apart(all[i].out().block, by.copiesOf(all[i].decision)) {
			continue
		}
		if x, ok := by.bodies(&all[i], f.sources); ok && !seen[x.sourceID(f.lines)] {
			seen[x.sourceID(f.lines)] = true
			out = append(out, x)
		}
	}
	for _, d := range f.inherited {
		if !by.apart(d.block, f.lines.byLast.Of(int(f.lines.last[d.block]))) &&
			!(f.graph.headed(d.block) >= 0 && by.apart(d.block, f.lines.byLoop.Of(int(f.lines.loop[d.block])))) {
			continue
		}
		for _, x := range by.ways(d) {
			if y, ok := by.bodies(&x, f.sources); ok && !seen[y.sourceID(f.lines)] && y.corr > 0 && by.arises(y.out().block, &y.flows, y.kind()) && !by.specialised(&y) {
				seen[y.sourceID(f.lines)] = true
				if f.table.cols() == 2 {
					y.score = y.corr * (1 - brought(y.inflow, y.taken))
				}
				out = append(out, y)
			}
		}
	}
	return out
}

// ways are the leaders that a departure may be of when the copies that other
// parts ran are counted in. It was put aside because all of its block goes with
// who runs it: whether that chooses or goes round, and which of its ways on
// makes the difference, only all copies together show.
func (f *finder) ways(d departure) (list []leader) {
	for _, i := range f.graph.outs.Of(int(d.block)) {
		e := &f.graph.p.Graph.Edges[i]
		if f.clusters.ofEdge(f.graph, i) != d.cluster {
			continue
		}
		way := d
		way.edge, way.outcome, way.taken = i, outcome{d.block, e.To, e.Count}, f.table.counts(e.Count)
		heads := f.graph.headed(d.block) >= 0
		if heads {
			if x, ok := f.lead(way, true); ok {
				list = append(list, x)
			}
		}
		if !(heads && (!f.graph.within(e) || f.graph.back[i])) {
			x := f.begin(way)
			x.decision = f.branch(way)
			f.costs.addUnder(x.cost, i) // of this way alone
			list = append(list, x)
		}
	}
	return list
}

// arises reports whether a difference arises in a decision, its copies counted:
// what comes to it does not bring it along, and its own count does only where
// it goes round (rule 5).
func (f *finder) arises(v profile.BlockID, x *flows, kind LeaderKind) bool {
	brings := func(flow []float64) bool {
		return f.goesWith(flow, x.taken) && (f.table.cols() == 2 || f.accounts(v, flow, x.taken))
	}
	return !brings(x.inflow) && brings(x.visits) == (kind == Loop)
}

// bringsAnywhere reports whether what comes to a decision brings the difference along
// wherever that stands.
func (f *finder) bringsAnywhere(flow, taken []float64) bool {
	return f.goesWith(flow, taken) && (f.table.cols() == 2 || f.table.accounts(flow, taken))
}

// goesWith reports whether how often a way was taken goes with how often it could be.
func (f *finder) goesWith(flow, taken []float64) bool {
	if f.table.cols() == 2 {
		return brought(flow, taken) > 0.5
	}
	return f.table.corr(flow, f.table.unit(taken)) >= f.stop
}

// brought is, of two parts, how much of the difference between how often they
// took a way comes from how often they could, and not from how often they then
// did (Oaxaca and Blinder's decomposition). Any two counts of two parts correlate,
// so that correlation tells nothing.
func brought(flow, taken []float64) float64 {
	if flow[0] == 0 || flow[1] == 0 {
		return 1
	}
	a, b := taken[0]/flow[0], taken[1]/flow[1]
	could, did := math.Abs(flow[1]-flow[0])*(a+b), math.Abs(b-a)*(flow[0]+flow[1])
	return could / (could + did)
}

// bodies joins a leader with the copies of it that other parts ran, and with
// those beside it, and beside them: bodies are unrolled too.
func (f *finder) bodies(x *leader, calls *sources) (joined leader, ok bool) {
	joined = *x
	for _, b := range f.copiesOf(x.decision) {
		v := profile.BlockID(b)
		if f.costs.at[v] < 0 || slices.ContainsFunc(joined.all(), func(d decision) bool { return d.out().block == v }) {
			continue
		}
		apart, may := f.beside(&joined, v, calls)
		if !may {
			continue
		}
		if y, is := f.like(x.decision, v); is && (apart || f.independent(&joined, y.decision)) {
			joined, ok = f.joined(joined, y), ok || apart
		}
	}
	joined.byLine = true
	return joined, ok
}

// apart reports whether no part ran both a block and some other one that ran: that is
// what bodies needs one copy of at least. Few leaders have any.
func (f *finder) apart(b profile.BlockID, copies []int32) bool {
	defer f.table.room.release(f.table.room.asked())
	mine := f.visits(b)
	return mine != nil && slices.ContainsFunc(copies, func(c int32) bool {
		v := profile.BlockID(c)
		if v == b || f.costs.at[v] < 0 {
			return false
		}
		visits := f.visits(v)
		return visits != nil && floats.Sum(visits) > 0 && floats.Dot(visits, mine) == 0
	})
}

// beside reports whether a block may be one more copy of a leader: no part ran
// both it and one that was inlined at other calls. It is apart if no part ran
// both it and any.
func (f *finder) beside(x *leader, v profile.BlockID, calls *sources) (apart, may bool) {
	visits := f.visits(v)
	if visits == nil || floats.Sum(visits) == 0 {
		return false, false
	}
	apart = true
	for _, d := range x.all() {
		b := d.out().block
		if n := f.visits(b); n == nil || floats.Dot(visits, n) > 0 {
			if apart = false; n == nil || calls.last[v] != calls.last[b] {
				return false, false
			}
		}
	}
	return apart, true
}

// copiesOf lists the blocks that decide on the same line as a branch or a loop.
func (f *finder) copiesOf(d decision) []int32 {
	switch d := d.(type) {
	case branch:
		return f.sources.byLast.Of(int(f.sources.last[d.block]))
	case loop:
		return f.sources.byLoop.Of(int(f.sources.loop[d.block]))
	}
	return nil
}

// like makes a leader of a block as if it decided what another decision does:
// to go where code of the same source is, or round a loop.
func (f *finder) like(d decision, v profile.BlockID) (x leader, ok bool) {
	_, round := d.(loop)
	if round && f.graph.headed(v) < 0 {
		return x, false
	}
	to, head, most := d.out().to, f.graph.headed(v), 0.0
	x = leader{steering: steering{cluster: -1}, cost: f.table.vector()}
	w := way{edge: -1}
	for _, i := range f.graph.outs.Of(int(v)) {
		e := &f.graph.p.Graph.Edges[i]
		n := f.table.counts(e.Count)
		switch {
		case !countable(f.graph, e) || n == nil:
		case round:
			if times := floats.Sum(n); f.graph.within(e) && f.graph.inLoop(e.To, head) && times > most {
				w, most = way{outcome{v, e.To, e.Count}, i}, times
			}
		case f.sources.start[e.To] == f.sources.start[to]:
			w = way{outcome{v, e.To, e.Count}, i}
			f.costs.addUnder(x.cost, i)
		}
	}
	x.inflow, x.visits = f.costs.inflow(v), f.visits(v)
	if w.edge < 0 || x.inflow == nil {
		return x, false
	}
	x.taken = f.table.counts(w.event)
	x.decision = branch{w, false}
	if round {
		if f.costs.loop[head] == nil {
			return x, false
		}
		x.decision, x.cost, x.told = loop{w}, f.table.room.copied(f.costs.loop[head]), f.costs.toldRounds(v)
	}
	x.corr = f.corr(x.taken)
	return x, true
}
