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
// that run through data only, and by jumps through tables; whoever calls itself looks
// where it is entered; and no register counts for a loop in which somebody looks.
func TestLooksInEachCycle(t *testing.T) {
	s := New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{Looks: true}, Numbers{})
	m := newEmitter(s, s.Home(), 0)
	looks, calls, asks := 0, 0, 0
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
					if m.asksOn(e) {
						asks++
						if e.To.Loop.Inner { // the innermost ones do not even ask
							t.Errorf("%s: asks on the way back from %#x", q.Func.Name, b.Start)
						}
					}
					if !m.hasCount(e) && m.looksWithin(b) != e {
						t.Errorf("%s: nobody looks on the way back from %#x", q.Func.Name, b.Start)
					}
					continue
				}
				if m.looksInCalls(b) {
					calls++
					continue
				}
				edges = append(edges, flowgraph.Edge{From: int32(b.ID), To: int32(e.To.ID)})
			}
		}
		of, n := flowgraph.New(len(m.g.Blocks), edges).Components()
		size, loop := make([]int, n), make([]*cfg.Loop, n)
		for i, c := range of {
			size[c]++
			loop[c] = m.g.Blocks[i].Loop
		}
		for i, c := range of {
			if b := m.g.Blocks[i]; size[c] > 1 && (!placement.Light(b) || b.Loop != loop[c] || b.Loop != nil && b.Loop.MayWait()) {
				t.Errorf("%s: one can go round from %#x without a look", q.Func.Name, b.Start)
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
	if looks < 100 || calls < 100 || asks < 10 {
		t.Errorf("%d looks, %d of them only if it is time, and %d in calls", looks, asks, calls)
	}
}

// TestLooksBeforeRecursion: from where a function is entered nobody comes to where it may
// come to itself without a look, but by jumps through tables.
func TestLooksBeforeRecursion(t *testing.T) {
	s := New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{Looks: true}, Numbers{})
	m := newEmitter(s, s.Home(), 0)
	checked, first := 0, 0
	for _, q := range s.plans {
		m.open(q)
		if q.looks && m.looksFirst() {
			first++
		}
		seen := map[*cfg.Block]bool{}
		todo := []*cfg.Block{m.g.Entry}
		for len(todo) > 0 && q.looks && !m.looksFirst() {
			b := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[b] || m.recurses[b] {
				checked++
				continue
			}
			seen[b] = true
			for i := range b.Calls {
				if c := &b.Calls[i]; m.recurs(c) {
					t.Errorf("%s: comes to the call at %#x without a look", q.Func.Name, c.Insn.Addr)
				}
			}
			for _, e := range b.Succ {
				if e.To != nil && e.Kind != cfg.Table && e.Kind != cfg.Pad && !m.looksOn(e) {
					todo = append(todo, e.To)
				}
			}
		}
		m.EndScope()
	}
	if checked < 5 || first == 0 {
		t.Errorf("%d places, and %d functions that look first", checked, first)
	}
}

// TestLooksInRecursion: whoever can come to itself over known calls looks where it is
// entered, and nobody who calls only what does not.
func TestLooksInRecursion(t *testing.T) {
	p := probetest.Open(t, probetest.Programs(t)[0])
	s := New(p, probetest.NoHooks, probe.Options{Looks: true}, Numbers{})
	recursive := 0
	for _, q := range s.plans {
		seen := map[*cfg.Func]bool{}
		todo := p.Callees(q.Func)
		for len(todo) > 0 {
			f := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !seen[f] && s.byFunc[f] != nil {
				seen[f] = true
				todo = append(todo, p.Callees(f)...)
			}
		}
		if seen[q.Func] {
			recursive++
		}
		if q.looks != (seen[q.Func] || q.callsUnknown) {
			t.Errorf("%s: looks: %v; comes to itself: %v, calls what is not known: %v", q.Func.Name, q.looks, seen[q.Func], q.callsUnknown)
		}
	}
	if recursive == 0 {
		t.Error("nobody calls itself")
	}
}
