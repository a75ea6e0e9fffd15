package relocate

import (
	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// look emits, on the way back of a loop or where a function begins, that the
// thread looks where the others are (threadarea/look.S), each so many passes.
func (m *emitter) look(live x86.Flags) {
	back := m.Labels(1)
	look := m.outOfLine(func() {
		m.LeaRSP(-redZone)
		m.CallTo(m.cache + threadarea.LookEntry)
		m.LeaRSP(redZone)
		m.Jmp(back)
	})
	m.keepingFlags(live != 0, func() {
		m.DecGS32(threadarea.OffFuel)
		m.Jcc(asm.Negative, look)
		m.Bind(back)
	})
}

// looksOn reports whether threads look on an edge: one that leads back, as each
// cycle has one, but within a loop that does no more than run through data. An
// edge to a lower address need not: who is held there may hold a lock.
func (m *emitter) looksOn(e *cfg.Edge) bool {
	if !m.s.opt.Looks || e.From == nil || e.To == nil || m.rank[e.To.ID] > m.rank[e.From.ID] {
		return false
	}
	l := e.To.Loop
	return l == nil || !l.Has(e.From) || placement.Looks(l)
}

// inOrder numbers the function's blocks in reverse postorder: an edge that does
// not lead on leads back.
func (m *emitter) inOrder() {
	var edges []flowgraph.Edge
	var roots []int32
	for _, b := range m.g.Blocks {
		if b == m.g.Entry || b.Pad || len(b.Pred) == 0 {
			roots = append(roots, int32(b.ID))
		}
		for _, e := range b.Succ {
			if e.To != nil {
				edges = append(edges, flowgraph.Edge{From: int32(b.ID), To: int32(e.To.ID)})
			}
		}
	}
	m.rank = flowgraph.New(len(m.g.Blocks), edges).Dominators(roots).Place
}

// looksFirst reports whether they look where the function is entered: it may
// call itself, over others.
func (m *emitter) looksFirst() bool { return m.s.opt.Looks && m.g.Calls > 0 }

// pauses notes that the thread waits, before an instruction or call that says so.
func (m *emitter) pauses() {
	if m.s.opt.Looks {
		m.MovGS32(threadarea.OffPaused, 1)
	}
}

// yields are the library functions that say so.
var yields = map[string]bool{"sched_yield": true, "thrd_yield": true, "pthread_yield": true}
