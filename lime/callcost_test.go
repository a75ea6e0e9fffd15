package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// cut is a call that nobody has come to yet: the section ends in its block.
type cut struct {
	f     *function
	block profile.BlockID
}

func (s *cut) emit(m *machine) {
	s.block = m.newBlock(2)
	m.link(m.cur, s.block, profile.Fall)
	m.link(s.block, s.f.entry, profile.Indirect)
	m.cur = s.block
}

func (s *cut) run(w *walker) { w.step(s.block) }

// What one call costs is told apart by the places that call; one that nobody came to in
// this instance has no share, though its block was executed.
func TestCallThatNobodyCameTo(t *testing.T) {
	m := newMachine()
	trips := 0
	f := m.function("work", &repeat{trips: func(*walker) int { return trips }, instructions: 9})
	with := func(n int) stmt { return before(func() { trips = n }) }
	cheap := &repeat{trips: func(w *walker) int { return 3 + w.id*w.id%5 }, instructions: 2, body: []stmt{with(5), &call{f: f}}}
	dear := &repeat{trips: func(w *walker) int { return 3 + 5*skew(w) }, instructions: 2, body: []stmt{with(90), &call{f: f}}}
	res := analyse(t, m.run(all(m.function("main", cheap, dear, &cut{f: f}), 12)...), Options{})
	if len(res.Causes) == 0 || res.Causes[0].Leader != Loop || res.Causes[0].Addr != m.last(dear.latch) {
		t.Errorf("causes %+v, want the loop at %#x", res.Causes, uint64(m.last(dear.latch)))
	}
}
