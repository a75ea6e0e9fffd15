package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// search is a loop that is left where something is found, or at its end.
type search struct {
	trips    func(*walker) int
	found    func(*walker) bool
	head     profile.BlockID
	on, done profile.BlockID
}

func (s *search) emit(m *machine) {
	s.head, s.on, s.done = m.newBlock(5), m.newBlock(6), m.newBlock(1)
	m.link(m.cur, s.head, profile.Fall)
	m.link(s.head, s.done, profile.Taken)
	m.link(s.head, s.on, profile.Fall)
	m.link(s.on, s.head, profile.Taken)
	m.link(s.on, s.done, profile.Fall)
	m.cur = s.done
}

func (s *search) run(w *walker) {
	for range s.trips(w) {
		w.step(s.head)
		w.step(s.on)
	}
	if s.found(w) {
		w.step(s.head)
	}
	w.step(s.done)
}

// Who searches longer also finds a little more often, and both go with T. What
// makes the work is how often the loop goes on.
func TestSearch(t *testing.T) {
	m := newMachine()
	s := &search{
		trips: func(w *walker) int { return 10 + 90*skew(w)/(w.n-1) },
		found: func(w *walker) bool { return w.iter < 1000+skew(w) }}
	p := m.run(all(m.function("main", &repeat{trips: fixed(1100), instructions: 2, body: []stmt{s}}), 4)...)
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || res.Causes[0].Share < 0.99 {
		t.Fatalf("causes %+v, want the loop alone", res.Causes)
	}
	for id, n := range res.Causes[0].Counts {
		if want := 1100 * (10 + 90*((id*7+3)%5)/3); n < uint64(want) || n > uint64(want)+1100 {
			t.Errorf("thread %d: counted %d times, want %d: how often it goes on", id, n, want)
		}
	}
}

// divided is a test that was copied for some threads, whose copy comes to what
// both guard by a jump.
type divided struct {
	mine       func(*walker) bool
	cond       func(*walker) bool
	head, last profile.BlockID
	test       [2]profile.BlockID
	hop, both  profile.BlockID
	tail       *work
}

func (s *divided) emit(m *machine) {
	s.head = m.newBlock(2)
	m.link(m.cur, s.head, profile.Fall)
	s.test[0], s.test[1] = m.newBlock(3), m.newBlock(3)
	m.link(s.head, s.test[0], profile.Fall)
	m.link(s.head, s.test[1], profile.Taken)
	s.hop, s.both = m.newBlock(1), m.newBlock(2)
	m.link(s.test[0], s.both, profile.Taken)
	m.link(s.test[1], s.hop, profile.Fall)
	m.link(s.hop, s.both, profile.Jump)
	m.cur = s.both
	s.tail = &work{instructions: 300}
	s.tail.emit(m)
	s.last = m.newBlock(1)
	m.link(m.cur, s.last, profile.Fall)
	m.link(s.test[0], s.last, profile.Fall)
	m.link(s.test[1], s.last, profile.Taken)
	m.cur = s.last
}

func (s *divided) run(w *walker) {
	w.step(s.head)
	k := 0
	if s.mine(w) {
		k = 1
	}
	w.step(s.test[k])
	if s.cond(w) {
		if k == 1 {
			w.step(s.hop)
		}
		w.step(s.both)
		s.tail.run(w)
	}
	w.step(s.last)
}

// What two ways lead to is what follows from the one, too, as far as it was
// come to that way.
func TestTailOfTwoWays(t *testing.T) {
	m := newMachine()
	s := &divided{
		mine: func(w *walker) bool { return w.id == 2 },
		cond: func(w *walker) bool { return w.iter%20 == 0 || w.id == 2 && w.iter%2 == 0 }}
	p := m.run(all(m.function("main", &repeat{trips: fixed(1000), instructions: 2, body: []stmt{s}}), 4)...)
	located(m)
	source(m, m.last(s.test[1]), m.last(s.test[0]))
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Leader != Branch || res.Causes[0].Addr != m.last(s.test[1]) || res.Causes[0].Share < 0.95 {
		t.Errorf("causes %+v, want the branch at %#x", res.Causes, uint64(m.last(s.test[1])))
	}
}
