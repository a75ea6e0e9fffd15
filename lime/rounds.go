package lime

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// A loop whose test stands at its bottom is headed by its body. Where that begins with a
// choice, no way on from the head goes with how often the loop goes round, and what leads
// back to it comes from the choice's ways; only the head's own count tells (rule 5).

// leadByRounds handles a loop's head of which no way on goes with how often it was come
// to: it is a leader where what flows in does not bring that along.
func (f *finder) leadByRounds(v profile.BlockID, inflow, visits []float64) (x leader, ok bool) {
	event := f.graph.p.Graph.Blocks[v].Count
	if f.graph.headed(v) < 0 || event < 0 || !f.table.varies(visits) || !f.oneLatch(v) || f.deeper(v) {
		return x, false
	}
	unit := f.table.unit(visits)
	brings := func(flow []float64) bool {
		return f.table.corr(flow, unit) >= f.stop && f.accounts(v, flow, visits)
	}
	if brings(inflow) || slices.ContainsFunc(f.weighed(v), brings) {
		return x, false
	}
	d := f.rounds(departure{way: way{outcome{block: v}, -1}, flows: flows{inflow: inflow, visits: visits}})
	if d.edge < 0 {
		return x, false
	}
	return f.lead(d, true)
}

// rounds is how often the loop goes round that a departure's block heads, which is how often
// that was come to, as a departure by the way back that goes best with it; the same one
// where there is none.
func (f *finder) rounds(d departure) departure {
	v, unit := d.block, f.table.unit(d.visits)
	back, most := int32(-1), 0.0
	for _, i := range f.waysBack(v) {
		if r := f.table.corr(f.table.counts(f.graph.p.Graph.Edges[i].Count), unit); f.clusters.ofEdge(f.graph, i) >= 0 && (back < 0 || r > most) {
			back, most = i, r
		}
	}
	if back < 0 {
		return d
	}
	return departure{
		way: way{outcome{v, v, f.graph.p.Graph.Blocks[v].Count}, back}, cluster: f.clusters.ofEdge(f.graph, back),
		flows: flows{inflow: d.inflow, visits: d.visits, taken: d.visits}, corr: f.corr(d.visits),
	}
}

// choosesFirst reports whether a departure's block heads a loop and chooses between ways on
// in it: the loop's test stands elsewhere, and none of these ways says how often it goes
// round, though one may go with that.
func (f *finder) choosesFirst(d departure) bool {
	v, l := d.block, f.graph.headed(d.block)
	if l < 0 || d.cycle != nil || f.graph.p.Graph.Blocks[v].Count < 0 || !f.oneLatch(v) || f.deeper(v) || f.waysOn(v) < 2 {
		return false
	}
	return !slices.ContainsFunc(f.graph.outs.Of(int(v)), func(i int32) bool {
		e := &f.graph.p.Graph.Edges[i]
		return !e.Kind.IsCall() && (e.To < 0 || !f.graph.inLoop(e.To, l))
	})
}

// waysBack are the edges by which a loop came back to its head.
func (f *finder) waysBack(v profile.BlockID) (back []int32) {
	for _, i := range f.graph.ins.Of(int(v)) {
		e := &f.graph.p.Graph.Edges[i]
		if n := f.table.counts(e.Count); f.graph.back[i] && f.graph.within(e) && n != nil && happened(n) {
			back = append(back, i)
		}
	}
	return back
}

// oneLatch reports whether all ways back to a loop's head are one in the source: compilers
// let each way of a choice in the loop end with the loop's test.
func (f *finder) oneLatch(v profile.BlockID) bool {
	back := f.waysBack(v)
	return !slices.ContainsFunc(back, func(i int32) bool {
		at := func(i int32) profile.BlockID { return f.sources.last[f.graph.p.Graph.Edges[i].From] }
		return at(i) != at(back[0])
	})
}
