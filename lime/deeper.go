package lime

import (
	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// deeper reports whether a block that heads a loop is come to again rather by recursive
// calls, by which its counts vary more: Go's functions begin anew when their stack has grown.
func (f *finder) deeper(v profile.BlockID) bool {
	calls, rounds := f.table.vector(), f.table.vector()
	for _, i := range f.graph.ins.Of(int(v)) {
		e := &f.graph.p.Graph.Edges[i]
		n := f.table.counts(e.Count)
		switch {
		case !f.graph.back[i] || n == nil:
		case e.Kind.IsCall():
			floats.Add(calls, n)
		default:
			floats.Add(rounds, n)
		}
	}
	return f.table.deviation(calls) > f.table.deviation(rounds)
}
