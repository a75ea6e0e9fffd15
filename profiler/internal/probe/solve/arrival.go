package solve

import (
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// ActiveArrival is ActiveFrame of a thread that came to the block which begins at an
// address, and of which nothing is counted yet.
func (v *Solver) ActiveArrival(addr uint64) (d record.Delta, ok bool) {
	q, m, addr := v.planAt(addr)
	if q == nil {
		return d, false
	}
	v.load(q.Number)
	b := m.Spec.Program.Graph(q.Func, &v.space).BlockOf(addr)
	if b == nil || b.Start != addr {
		return d, false
	}
	return record.Delta{Counter: -1 - v.frameNumber(frame{q.Number, placement.In(b)}), N: 1}, true
}
