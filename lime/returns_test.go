package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// wrapped is a call that nobody counts; how often it came back is known.
type wrapped struct {
	f     *function
	block profile.BlockID
	after profile.BlockID
}

func (s *wrapped) emit(m *machine) {
	s.block = m.newBlock(2)
	m.p.Events = m.p.Events[:len(m.p.Events)-1]
	m.p.Graph.Blocks[s.block].Count = profile.NoEvent
	m.link(m.cur, s.block, profile.Fall)
	m.link(s.block, s.f.entry, profile.Call)
	s.after = m.newBlock(1)
	m.link(s.block, s.after, profile.Fall)
	m.cur = s.after
}

func (s *wrapped) run(w *walker) {
	w.counts[w.m.p.Graph.Edges[w.m.edge[[2]profile.BlockID{w.at, s.block}]].Count]++
	w.at = s.block
	s.f.call(w)
	w.at = s.block
	w.step(s.after)
}

// A wrapper calls as soon as it is entered, and nobody counts that; what is
// called is on the account of whoever called the wrapper all the same.
func TestCallThatOnlyItsReturnTellsOf(t *testing.T) {
	m := newMachine()
	f := m.function("work", &repeat{trips: fixed(50), instructions: 9})
	wrapper := m.function("wrapper", &wrapped{f: f})
	loop := &repeat{trips: func(w *walker) int { return 10 + 10*skew(w) }, instructions: 2, body: []stmt{&call{f: wrapper}}}
	res := analyse(t, m.run(all(m.function("main", loop), 4)...), Options{})
	if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || res.Causes[0].Addr != m.last(loop.latch) || res.Causes[0].Share < 0.99 {
		t.Errorf("causes %+v, want the loop at %#x", res.Causes, uint64(m.last(loop.latch)))
	}
}
