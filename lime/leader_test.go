package lime

import (
	"math"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// What comes to a loop differs by little, what it makes of that by much. With
// two threads the two always correlate.
func TestNearlyConstantInflow(t *testing.T) {
	for _, n := range []int{2, 3, 8, 16} {
		m := newMachine()
		heavy := func(w *walker) bool { return w.id == w.n-1 }
		inner := &repeat{trips: func(w *walker) int {
			if heavy(w) && w.iter == 0 {
				return 5000
			}
			return 10
		}, instructions: 9}
		outer := &repeat{trips: func(w *walker) int {
			if heavy(w) {
				return 51
			}
			return 48
		}, instructions: 2, body: []stmt{inner}}
		res := analyse(t, m.run(all(m.function("main", outer), n)...), Options{})
		if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(inner.head) || res.Causes[0].Leader != Loop {
			t.Errorf("%d threads: %+v", n, res.Causes)
		} else if s := res.Causes[0].LeaderScore; s < 0.99 {
			t.Errorf("%d threads: leader score %v", n, s)
		}
	}
}

// twins are two loops, one in the other, with one head and two ways back.
type twins struct {
	outer, inner     func(*walker) int
	head, once, last profile.BlockID // last: the inner loop's test
	latch, out       profile.BlockID
}

func (s *twins) emit(m *machine) {
	s.head = m.newBlock(4)
	m.link(m.cur, s.head, profile.Fall)
	m.cur = s.head
	s.last = m.newBlock(6)
	m.link(s.head, s.last, profile.Fall)
	m.link(s.last, s.head, profile.Taken)
	s.once, s.latch = m.newBlock(500), m.newBlock(2)
	m.link(s.last, s.once, profile.Fall)
	m.link(s.once, s.latch, profile.Fall)
	m.link(s.latch, s.head, profile.Taken)
	s.out = m.newBlock(1)
	m.link(s.latch, s.out, profile.Fall)
	m.cur = s.out
}

func (s *twins) run(w *walker) {
	for range s.outer(w) {
		for range s.inner(w) {
			w.step(s.head)
			w.step(s.last)
		}
		w.step(s.once)
		w.step(s.latch)
	}
	w.step(s.out)
}

func TestLoopsThatShareTheirHead(t *testing.T) {
	for _, n := range []int{2, 4, 8, 16} {
		m := newMachine()
		inner := &twins{outer: fixed(50), inner: func(w *walker) int { return 5 + 3*skew(w) }}
		res := analyse(t, m.run(all(m.function("main", inner), n)...), Options{})
		if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || res.Causes[0].Addr != m.last(inner.last) {
			t.Fatalf("%d threads, inner: %+v", n, res.Causes)
		}
		if c := res.Causes[0]; math.Abs(c.Gain-res.Imbalance) > 1e-9 || math.Abs(c.Share-1) > 1e-9 || c.WholeUnits > res.Imbalance {
			t.Errorf("%d threads, inner: share %v, gain %v, in whole units %v, imbalance %v", n, c.Share, c.Gain, c.WholeUnits, res.Imbalance)
		}
		m = newMachine()
		outer := &twins{outer: func(w *walker) int { return 50 + 10*skew(w) }, inner: fixed(5)}
		res = analyse(t, m.run(all(m.function("main", outer), n)...), Options{})
		if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || res.Causes[0].Addr != m.last(outer.latch) || res.Causes[0].Share < 0.999 {
			t.Errorf("%d threads, outer: %+v", n, res.Causes)
		}
	}
}

// A helper's loop takes the whole cost, and what flows into it from three
// places goes with the response well but not wholly. The decisions above are
// to blame.
func TestHelperHidesNobody(t *testing.T) {
	for _, n := range []int{4, 8, 16, 32} {
		m := newMachine()
		trips := 0
		step := m.function("step", &repeat{trips: func(*walker) int { return trips }, instructions: 5})
		calls := func(times, each int) []stmt {
			return []stmt{before(func() { trips = each }), &repeat{trips: fixed(times), instructions: 1, body: []stmt{&call{f: step}}}}
		}
		last := &when{cond: func(w *walker) bool { return w.id == w.n-1 }, then: calls(64, 19*n)}
		bit := &when{cond: func(w *walker) bool { return w.id>>w.iter&1 == 1 }, then: calls(n, 100)}
		body := append(calls(1, 400*n), last, &repeat{trips: fixed(6), instructions: 1, body: []stmt{bit}})
		res := analyse(t, m.run(all(m.function("main", body...), n)...), Options{})
		if len(res.Causes) != 2 || res.Causes[0].Addr != m.last(last.head) || res.Causes[1].Addr != m.last(bit.head) {
			t.Errorf("%d threads, want %#x and %#x: %+v", n, uint64(m.last(last.head)), uint64(m.last(bit.head)), res.Causes)
		}
	}
}

// Threads that enter one function in different ways: that each way costs
// another amount explains nothing.
func TestWaysInAreNoExplanation(t *testing.T) {
	for _, n := range []int{4, 8, 16} {
		m := newMachine()
		root := &when{cond: func(w *walker) bool { return w.id == 0 }, then: []stmt{&repeat{trips: fixed(40), instructions: 30}}}
		draw := m.function("draw", &work{instructions: 300}, root)
		mains := all(m.function("start", &call{f: draw}), n)
		mains[0] = m.function("main", &call{f: draw})
		res := analyse(t, m.run(mains...), Options{})
		if len(res.Causes) == 0 || res.Causes[0].Addr != m.last(root.head) {
			t.Errorf("%d threads: %+v", n, res.Causes)
		}
	}
}
