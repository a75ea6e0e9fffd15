package lime

import (
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
		if x, ok := by.bodies(&all[i]); ok && !seen[x.sourceID(f.lines)] {
			seen[x.sourceID(f.lines)] = true
			out = append(out, x)
		}
	}
	return out
}

// bodies joins a leader with the copies of it that other parts ran.
func (f *finder) bodies(x *leader) (joined leader, ok bool) {
	joined = *x
	for _, b := range f.copiesOf(x.decision) {
		v := profile.BlockID(b)
		if f.costs.at[v] < 0 || slices.ContainsFunc(joined.all(), func(d decision) bool { return d.out().block == v }) {
			continue
		}
		visits := f.visits(v)
		if visits == nil || floats.Sum(visits) == 0 || floats.Dot(visits, joined.visits) > 0 {
			continue
		}
		if y, is := f.like(x.decision, v); is {
			joined, ok = f.joined(joined, y), true
		}
	}
	joined.byLine = true
	return joined, ok
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
	x = leader{steering: steering{cluster: -1}, cost: make([]float64, f.table.cols())}
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
		x.decision, x.cost = loop{w}, slices.Clone(f.costs.loop[head])
	}
	x.corr = f.corr(x.taken)
	return x, true
}
