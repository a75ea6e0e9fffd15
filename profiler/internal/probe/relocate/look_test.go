package relocate

import (
	"testing"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
)

// TestLooksInEachCycle: nobody goes round for ever without a look, but in loops
// that run through data only, and by jumps through tables; and no register
// counts for a loop in which somebody looks.
func TestLooksInEachCycle(t *testing.T) {
	s := New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{Looks: true}, Numbers{})
	m := newEmitter(s, s.Home(), 0)
	looks := 0
	for _, q := range s.plans {
		m.open(q)
		var edges []flowgraph.Edge
		for _, b := range m.g.Blocks {
			for _, e := range b.Succ {
				if e.To == nil || e.Kind == cfg.Table || e.Kind == cfg.Pad {
					continue
				}
				if m.looksOn(e) {
					looks++
					continue
				}
				if l := e.To.Loop; l != nil && l.Has(b) && !placement.Looks(l) && e.To == l.Head {
					continue
				}
				edges = append(edges, flowgraph.Edge{From: int32(b.ID), To: int32(e.To.ID)})
			}
		}
		of, n := flowgraph.New(len(m.g.Blocks), edges).Components()
		size := make([]int, n)
		for _, c := range of {
			size[c]++
		}
		for i, c := range of {
			if size[c] > 1 {
				t.Errorf("%s: one can go round from %#x without a look", q.Func.Name, m.g.Blocks[i].Start)
				break
			}
		}
		for i := range m.counters.Edges {
			if x := m.counters.Edges[i].Induction; x != nil && placement.Looks(x.Loop) {
				t.Errorf("%s: a register counts for the loop at %#x, in which threads look", q.Func.Name, x.Loop.Head.Start)
			}
		}
		m.EndScope()
	}
	if looks < 100 {
		t.Errorf("%d looks", looks)
	}
}
