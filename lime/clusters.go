package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// clusters is what 3.2 and 3.3 make of an instance's events.
type clusters struct {
	events   []profile.EventID
	table    *table
	vectors  []float64   // of events here, end to end: their unit vectors
	label    []int32     // by row of the table; −1: not here
	centroid [][]float64 // by cluster: the averaged z-scores (3.5), of unit vectors
	unit     [][]float64 // by cluster: the same, standardised again
	size     []int       // by cluster: events, an edge each
	control  []bool      // by cluster: it holds a control-flow event
}

// countable reports whether an edge can carry a difference into a cluster.
// START edges are no decisions of a vertex, exits lead to
// nothing that is counted, and the edges of a loop that only waits measure
// waiting.
func countable(g *graph, e *profile.Edge) bool {
	return e.From >= 0 && e.To >= 0 && e.Count >= 0 && (e.Kind < profile.Start || e.Kind == profile.Pad) && !g.p.Graph.Blocks[e.From].Spin
}

// reuse: what some cache would have done is nobody's time.
func reuse(e *profile.Event) bool {
	_, is := e.IsReuse()
	return is
}

// newClusters clusters the edges that differ between threads, and, where the
// response is a time, the hardware events.
func newClusters(g *graph, t *table, hardware bool, skip string, stop, bulk float64) *clusters {
	r := t.room
	r.label = slices.Grow(r.label[:0], len(t.events))[:len(t.events)]
	for i := range r.label {
		r.label[i] = -1
	}
	cs := &clusters{table: t, label: r.label}
	var weight []float64
	z := r.unit[:0]
	for _, e := range t.events {
		if ev := &g.p.Events[e]; ev.Kind == profile.Hardware {
			if v, ok := t.adjusted(g.p.Events, e); hardware && ok && ev.Name != skip && !reuse(ev) && !ev.Total() {
				normalise(v)
				z = append(z, v...)
				cs.events, weight = append(cs.events, e), append(weight, 1)
			}
			continue
		}
		n := 0
		for _, i := range g.ofEvent.Of(int(e)) {
			if countable(g, &g.p.Graph.Edges[i]) {
				n++
			}
		}
		if n > 0 && t.varies(t.counts(e)) {
			at := len(z)
			z = append(z, t.zeros...)
			t.centreAll(z[at:], t.counts(e))
			normalise(z[at:])
			cs.events, weight = append(cs.events, e), append(weight, float64(n))
		}
	}
	r.unit, cs.vectors = z, z
	labels := cluster(z, t.cols(), weight, stop, bulk)
	for i, e := range cs.events {
		l := labels[i]
		if l == len(cs.centroid) {
			cs.centroid = append(cs.centroid, t.vector())
			cs.size, cs.control = append(cs.size, 0), append(cs.control, false)
		}
		v := cs.vector(i)
		cs.label[t.row[e]] = int32(l)
		floats.AddScaled(cs.centroid[l], weight[i], v)
		cs.size[l] += int(weight[i])
		if g.p.Events[e].Kind != profile.Hardware {
			cs.control[l] = true
		}
	}
	for l, c := range cs.centroid {
		floats.Scale(1/float64(cs.size[l]), c)
		u := r.copied(c)
		normalise(u)
		cs.unit = append(cs.unit, u)
	}
	return cs
}

// vector is that of an event here.
func (cs *clusters) vector(i int) []float64 {
	n := cs.table.cols()
	return cs.vectors[i*n : (i+1)*n]
}

// of returns the cluster of an event, or −1.
func (cs *clusters) of(e profile.EventID) int {
	if e < 0 || cs.table.row[e] < 0 {
		return -1
	}
	return int(cs.label[cs.table.row[e]])
}

// ofEdge returns the cluster of an edge, or −1.
func (cs *clusters) ofEdge(g *graph, edge int32) int {
	e := &g.p.Graph.Edges[edge]
	if l := cs.of(e.Count); l >= 0 && countable(g, e) {
		return l
	}
	return -1
}

// bySize lists the clusters, those of most events first.
func (cs *clusters) bySize() []int {
	ids := make([]int, len(cs.size))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cs.size[b] - cs.size[a] })
	return ids
}
