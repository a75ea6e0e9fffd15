package lime

import "github.com/skewlens/skewlens/profile"

// paperLeader is a leader with equation 1 as its score; the paper knows no
// region cost.
type paperLeader struct {
	steering
	score float64
}

// paperLeaders finds leaders by the paper's own words: all edges into v but
// back edges come from outside the cluster; equation 1 with the maxima over
// single edges, back edges ignored.
func (f *finder) paperLeaders() []paperLeader {
	var all []paperLeader
	for _, v := range f.vertices() {
		done := map[int]bool{}
		for _, i := range f.graph.outs.Of(int(v)) {
			l := f.clusters.ofEdge(f.graph, i)
			if l < 0 || done[l] {
				continue
			}
			done[l] = true
			in, ok := f.greatestCorr(f.graph.ins.Of(int(v)), l)
			if !ok {
				continue
			}
			out, _ := f.greatestCorr(f.graph.outs.Of(int(v)), noCluster)
			e := &f.graph.p.Graph.Edges[i]
			d := branch{way: way{outcome{block: v, to: e.To, event: e.Count}, i}}
			all = append(all, paperLeader{steering{decision: d, cluster: l}, out - in})
		}
	}
	return all
}

// noCluster is the cluster of nothing.
const noCluster = -2

// greatestCorr returns the greatest r with T of the forward edges among some; 0
// when there are none; ok is false when one of them is in cluster l.
func (f *finder) greatestCorr(edges []int32, l int) (r float64, ok bool) {
	first := true
	for _, i := range edges {
		n := f.table.counts(f.graph.p.Graph.Edges[i].Count)
		if f.graph.back[i] || n == nil || f.graph.p.Graph.Edges[i].Kind == profile.Exit {
			continue
		}
		if f.clusters.ofEdge(f.graph, i) == l {
			return 0, false
		}
		if x := f.corr(n); first || x > r {
			r, first = x, false
		}
	}
	return r, true
}

// byPaper is 3.4 and 3.5 as written (rule 14). The paper knows no region cost,
// so there is no gain, and the score itself has to stand for the share.
func (a *analysis) byPaper() {
	leaders := make([][]paperLeader, len(a.clusters.size))
	for _, x := range a.paperLeaders() {
		leaders[x.cluster] = append(leaders[x.cluster], x)
	}
	ids := a.clusters.bySize()
	columns := make([][]float64, len(ids))
	for i, l := range ids {
		columns[i] = a.clusters.centroid[l]
	}
	n := len(a.response)
	fit := forward(a.unit, columns, selection{df: n - 1, terms: n - 2, enough: 2})
	a.r2 = fit.r2
	for i, j := range fit.chosen {
		l := ids[j]
		if !a.clusters.control[l] {
			a.addHardware(l, fit.beta[i], fit.p[i])
			continue
		}
		for _, x := range leaders[l] {
			score := fit.beta[i] * x.score
			a.add(finding{
				id: x.id(), origin: x.steering, cost: unknownCost{},
				share: score, beta: fit.beta[i], score: score, leaderScore: x.score, p: fit.p[i],
			})
		}
	}
}
