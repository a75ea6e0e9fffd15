package lime

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// A part that begins at a meeting begins in the middle of code: it is in loops
// that it did not enter, on a way that was chosen before it began. Where the
// parts' ways parted can still be said when they begin in one function
// (rule 7).

// begunIn counts, per part, the loop that a part begins in: it has come to the
// loop from outside, though before the part.
func (c *costs) begunIn(l int32) []float64 {
	if c.began == nil {
		for i := range c.table.parts {
			c.began = append(c.began, c.graph.index().At(c.table.parts[i].Begin))
		}
	}
	n := make([]float64, len(c.began))
	for i, b := range c.began {
		if b >= 0 && c.graph.inLoop(b, l) {
			n[i] = 1
		}
	}
	return n
}

// parted is the cause that threads begin an instance on different sides of a
// branch, as where a compiler tests once, before a loop, what the source tests
// in it.
type parted struct {
	branch
	began []profile.Addr // on the side that the branch is blamed for
}

func (d parted) describe(a *analysis) Cause {
	c := Cause{Kind: controlFlow, Leader: Branch}
	c.Addr, c.To = d.place(a)
	return c
}

// parting is the branch at which the way to the slowest of the places where
// parts begin leaves that to all others.
func (a *analysis) parting(begins []profile.Addr, slowest profile.Addr) (d parted, ok bool) {
	g := a.graph
	at, fork := g.index().At(slowest), g.index().At(begins[0])
	if at < 0 || fork < 0 {
		return d, false
	}
	for _, b := range begins[1:] {
		v := g.index().At(b)
		if v < 0 || g.p.Graph.Blocks[v].Function != g.p.Graph.Blocks[at].Function || !g.reached(v) {
			return d, false
		}
		for fork >= 0 && !g.dominates(fork, v) {
			fork = g.idom(fork)
		}
	}
	if fork < 0 || !a.branching(fork) {
		return d, false
	}
	for _, i := range g.outs.Of(int(fork)) {
		if e := &g.p.Graph.Edges[i]; g.within(e) && !g.back[i] && e.Count >= 0 && g.dominates(e.To, at) {
			d.branch = branch{way: way{outcome{fork, e.To, e.Count}, i}}
			d.began = slices.DeleteFunc(slices.Clone(begins), func(b profile.Addr) bool { return !g.dominates(e.To, g.index().At(b)) })
			return d, len(d.began) < len(begins)
		}
	}
	return d, false
}
