package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// throw is a block that throws; it is caught by the try around its function.
type throw struct{ block profile.BlockID }

func (s *throw) emit(m *machine) {
	s.block = m.newBlock(4)
	m.link(m.cur, s.block, profile.Fall)
	m.cur = s.block
}

func (s *throw) run(w *walker) {
	w.step(s.block)
	w.thrown = true
}

// try calls a function and handles what it throws.
type try struct {
	f       *function
	throw   *throw
	handler stmt

	block, pad, next profile.BlockID
	edge             int32
}

func (s *try) emit(m *machine) {
	s.block = m.newBlock(2)
	m.link(m.cur, s.block, profile.Fall)
	m.link(s.block, s.f.entry, profile.Call)
	s.pad = m.newBlock(3)
	s.edge = int32(len(m.p.Graph.Edges))
	m.link(s.throw.block, s.pad, profile.Pad)
	m.p.Graph.Edges[s.edge].Site = m.last(s.block)
	m.p.Events[m.p.Graph.Edges[s.edge].Count].Addr = m.last(s.block)
	m.cur = s.pad
	s.handler.emit(m)
	s.next = m.newBlock(1)
	m.link(m.cur, s.next, profile.Jump)
	m.link(s.block, s.next, profile.Fall)
	m.cur = s.next
}

func (s *try) run(w *walker) {
	w.step(s.block)
	w.thrown = false
	s.f.call(w)
	if w.thrown {
		w.at = s.throw.block
		w.step(s.pad)
		s.handler.run(w)
	}
	w.step(s.next)
}

// A dear handler in one function is the doing of the branch, in another one,
// that leads to the throw: with all that the handler costs, also where it is
// caught behind a second function that only cleans up and lets it go on.
func TestThrownFar(t *testing.T) {
	for _, cleans := range []bool{false, true} {
		m := newMachine()
		th := &throw{}
		d := &when{cond: func(w *walker) bool { return w.iter < 5*skew(w) }, then: []stmt{th}}
		f := m.function("parse", &work{instructions: 20}, d)
		caught := th
		if cleans {
			again := &throw{}
			f = m.function("cleans", &try{f: f, throw: th, handler: again})
			caught = again
		}
		h := &repeat{trips: fixed(30), instructions: 9}
		loop := &repeat{trips: fixed(60), instructions: 2, body: []stmt{&try{f: f, throw: caught, handler: h}}}
		p := m.run(all(m.function("main", loop), 8)...)
		res := analyse(t, p, Options{})
		if len(res.Causes) != 1 || res.Causes[0].Leader != Branch || res.Causes[0].Addr != m.last(d.head) {
			t.Errorf("cleans %v: %+v, want a branch at %#x", cleans, res.Causes, uint64(m.last(d.head)))
			continue
		}
		if c := res.Causes[0]; c.Share < 0.99 || c.Gain < res.Imbalance-0.01 {
			t.Errorf("cleans %v: share %v, gain %v of %v", cleans, c.Share, c.Gain, res.Imbalance)
		}
	}
}
