package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// regrown is what a function begins with that begins anew when its stack has grown, as
// Go's do, which happens to each thread once.
type regrown struct{ entry, grow, rest profile.BlockID }

func (s *regrown) emit(m *machine) {
	s.entry, s.grow = m.cur, m.newBlock(4)
	m.link(s.entry, s.grow, profile.Taken)
	m.link(s.grow, s.entry, profile.Jump)
	s.rest = m.newBlock(1)
	m.link(s.entry, s.rest, profile.Fall)
	m.cur = s.rest
}

func (s *regrown) run(w *walker) {
	if w.counts[w.m.p.Graph.Blocks[s.grow].Count] == 0 {
		w.step(s.grow)
		w.step(s.entry)
	}
	w.step(s.rest)
}

// A function's entry may head a loop, and be called again by what it calls: what brings
// more of the difference is the leader.
func TestRecursionThatBeginsAnew(t *testing.T) {
	for _, threads := range []int{2, 4, 8} {
		m := newMachine()
		f := m.function("tree")
		depth := 0
		guard := &when{cond: func(*walker) bool { return depth > 0 }, then: []stmt{&call{f: f}, &call{f: f}}}
		m.p.Graph.Blocks, m.p.Graph.Edges, m.p.Events = nil, nil, nil // f is laid out below
		f.define(m, &regrown{}, before(func() { depth-- }), guard, before(func() { depth++ }))
		main := m.function("main", beforeOf(func(w *walker) { depth = 4 + skew(w)%5 }), &call{f: f})
		res := analyse(t, m.run(all(main, threads)...), Options{})
		if len(res.Causes) != 1 || res.Causes[0].Leader != Recursion || res.Causes[0].Addr != m.last(guard.head) {
			t.Errorf("%d threads: causes %+v, want the recursion", threads, res.Causes)
		}
	}
}
