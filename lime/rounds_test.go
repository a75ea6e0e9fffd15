package lime

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// forked is a loop that begins with a choice, and tests at its bottom: once, or at the
// end of each way.
type forked struct {
	trips                    func(*walker) int
	cond                     func(*walker) bool
	twice                    bool
	head, yes, no, test, out profile.BlockID
}

func (s *forked) emit(m *machine) {
	s.head = m.newBlock(3)
	m.link(m.cur, s.head, profile.Fall)
	m.cur = s.head
	s.yes, s.no, s.test, s.out = m.newBlock(9), m.newBlock(2), m.newBlock(2), m.newBlock(1)
	m.link(s.head, s.yes, profile.Fall)
	m.link(s.head, s.no, profile.Taken)
	if s.twice {
		m.link(s.yes, s.head, profile.Taken)
		m.link(s.yes, s.out, profile.Fall)
		m.link(s.no, s.head, profile.Taken)
		m.link(s.no, s.out, profile.Fall)
	} else {
		m.link(s.yes, s.test, profile.Jump)
		m.link(s.no, s.test, profile.Jump)
		m.link(s.test, s.head, profile.Taken)
		m.link(s.test, s.out, profile.Fall)
	}
	m.cur = s.out
}

func (s *forked) run(w *walker) {
	for i := range s.trips(w) {
		w.iter = i
		w.step(s.head)
		if s.cond(w) {
			w.step(s.yes)
		} else {
			w.step(s.no)
		}
		if !s.twice {
			w.step(s.test)
		}
	}
	w.step(s.out)
}

// TestLoopsThatBeginWithAChoice: they go round more often for some threads, whatever
// these choose there. Ways back of two lines are two loops, of which none does.
func TestLoopsThatBeginWithAChoice(t *testing.T) {
	many := func(w *walker) int { return 100 + 900*(w.id/(w.n-2)) } // the last two threads
	tenths := func(w *walker) bool { return w.iter*7%10 < 1+w.id*5%8 }
	for _, c := range []struct {
		name         string
		twice, apart bool
		trips        func(*walker) int
		want         LeaderKind // "": no loop
	}{
		{"one test", false, false, many, Loop},
		{"a test on each way", true, false, many, Loop},
		{"two loops", true, true, many, ""},
		{"as often", false, false, fixed(500), ""},
		{"as often, a test on each way", true, false, fixed(500), ""},
	} {
		m := newMachine()
		l := &forked{trips: c.trips, cond: tenths, twice: c.twice}
		p := m.run(all(m.function("main", l), 8)...)
		located(m)
		if c.twice && !c.apart {
			source(m, m.last(l.no), m.last(l.yes))
		}
		res := analyse(t, p, Options{})
		if len(res.Causes) == 0 {
			t.Errorf("%s: no cause", c.name)
			continue
		}
		x := res.Causes[0]
		whole := x.Leader == Loop && x.Share > 0.95
		if whole != (c.want == Loop) {
			t.Errorf("%s: %s, share %.2f", c.name, x.Leader, x.Share)
		}
	}
}

// TestRoundsOfALoopThatBeginsWithAChoice: how often it goes round is told, and not how often
// it takes a way of the choice, though that goes with it.
func TestRoundsOfALoopThatBeginsWithAChoice(t *testing.T) {
	m := newMachine()
	l := &forked{trips: func(w *walker) int { return 400 * (w.id + 1) }, cond: func(w *walker) bool { return w.iter%(8-w.id) == 0 }}
	p := m.run(all(m.function("main", l), 4)...)
	located(m)
	res := analyse(t, p, Options{})
	if len(res.Causes) == 0 || res.Causes[0].Leader != Loop || !slices.Equal(res.Causes[0].Counts, []uint64{400, 800, 1200, 1600}) {
		t.Errorf("%+v", res.Causes)
	}
}
