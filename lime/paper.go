package lime

import "github.com/skewlens/skewlens/profile"

// paperLeaders finds leaders by the paper's own words: all edges into v but
// back edges come from outside the cluster; equation 1 with the maxima over
// single edges, back edges ignored.
func (f *finder) paperLeaders() []leader {
	var all []leader
	for _, v := range f.sources() {
		done := map[int]bool{}
		for _, i := range f.g.outs.Of(int(v)) {
			l := f.cs.of(f.g, i)
			if l < 0 || done[l] {
				continue
			}
			done[l] = true
			x := leader{v: v, kind: Branch, edge: i, event: f.g.p.Graph.Edges[i].Count, to: f.g.p.Graph.Edges[i].To, cluster: l}
			in, ok := f.best(f.g.ins.Of(int(v)), l)
			if !ok {
				continue
			}
			out, _ := f.best(f.g.outs.Of(int(v)), -2)
			x.r, x.s = out, out-in
			all = append(all, x)
		}
	}
	return all
}

// best returns the greatest r with T of the forward edges among some; 0 when
// there are none; ok is false when one of them is in cluster l.
func (f *finder) best(edges []int32, l int) (r float64, ok bool) {
	first := true
	for _, i := range edges {
		n := f.t.of(f.g.p.Graph.Edges[i].Count)
		if f.g.back[i] || n == nil || f.g.p.Graph.Edges[i].Kind == profile.Exit {
			continue
		}
		if f.cs.of(f.g, i) == l {
			return 0, false
		}
		if x := f.r(n); first || x > r {
			r, first = x, false
		}
	}
	return r, true
}

// byPaper is 3.4 and 3.5 as written. The paper knows no region cost, so there
// is no gain, and the score itself has to stand for the share.
func (sc *scene) byPaper() {
	leaders := make([][]leader, len(sc.cs.size))
	for _, x := range sc.paperLeaders() {
		leaders[x.cluster] = append(leaders[x.cluster], x)
	}
	ids := sc.cs.bySize()
	columns := make([][]float64, len(ids))
	for i, l := range ids {
		columns[i] = sc.cs.centroid[l]
	}
	n := len(sc.resp)
	fit := forward(sc.unit, columns, selection{df: n - 1, terms: n - 2, enough: 2})
	sc.r2 = fit.r2
	for i, j := range fit.chosen {
		l := ids[j]
		if !sc.cs.control[l] {
			sc.hardware(l, fit.beta[i], fit.p[i])
			continue
		}
		for _, x := range leaders[l] {
			score := fit.beta[i] * x.s
			sc.add(found{key: x.key(), by: x, share: score, beta: fit.beta[i], score: score, p: fit.p[i]})
		}
	}
}
