package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// choice is a switch: each label has its body, and some fall through into the next one's.
type choice struct {
	which   func(*walker) int
	bodies  []stmt
	through []bool
	head    profile.BlockID
	label   []profile.BlockID
	end     []profile.BlockID
	join    profile.BlockID
}

func (s *choice) emit(m *machine) {
	s.head = m.newBlock(4)
	m.link(m.cur, s.head, profile.Fall)
	for k, body := range s.bodies {
		label := m.newBlock(2)
		m.link(s.head, label, profile.Table)
		if k > 0 && s.through[k-1] {
			m.link(m.cur, label, profile.Fall)
		}
		m.cur = label
		body.emit(m)
		s.label, s.end = append(s.label, label), append(s.end, m.cur)
	}
	s.join = m.newBlock(1)
	for k, end := range s.end {
		if !s.through[k] {
			m.link(end, s.join, profile.Jump)
		}
	}
	m.cur = s.join
}

func (s *choice) run(w *walker) {
	w.step(s.head)
	for k := s.which(w); ; k++ {
		w.step(s.label[k])
		s.bodies[k].run(w)
		if !s.through[k] {
			break
		}
	}
	w.step(s.join)
}

// Two labels of a switch lead to one body, the first by falling through, and each thread
// goes by either as often as by the other: the switch decides all of it, and not a half.
func TestFallingThrough(t *testing.T) {
	m := newMachine()
	s := &choice{
		which: func(w *walker) int {
			if w.iter < 40*(1+skew(w)) {
				return 1 + w.iter%2
			}
			return w.iter % 2 * 3
		},
		bodies:  []stmt{&work{instructions: 5}, &work{instructions: 3}, &work{instructions: 900}, &work{instructions: 5}},
		through: []bool{false, true, false, false}}
	p := m.run(all(m.function("main", &repeat{trips: fixed(1000), instructions: 2, body: []stmt{s}}), 4)...)
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Leader != Branch || res.Causes[0].Addr != m.last(s.head) || res.Causes[0].Share < 0.99 {
		t.Errorf("causes %+v, want the switch alone", res.Causes)
	}
}

// Of a chain of tests the last one decides who has the large pieces. That the threads which
// have them also come to it a little more often makes the least of it.
func TestChainOfTests(t *testing.T) {
	m := newMachine()
	kind := func(w *walker) int {
		if w.iter < 100*(1+skew(w)) {
			return 3
		}
		return w.iter % 3
	}
	last := &when{cond: func(w *walker) bool { return kind(w) == 2 },
		then: []stmt{&work{instructions: 60}}, otherwise: []stmt{&work{instructions: 2000}}}
	second := &when{cond: func(w *walker) bool { return kind(w) == 1 },
		then: []stmt{&work{instructions: 50}}, otherwise: []stmt{last}}
	first := &when{cond: func(w *walker) bool { return kind(w) == 0 },
		then: []stmt{&work{instructions: 40}}, otherwise: []stmt{second}}
	p := m.run(all(m.function("main", &repeat{trips: fixed(1000), instructions: 2, body: []stmt{first}}), 4)...)
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Leader != Branch || res.Causes[0].Addr != m.last(last.head) || res.Causes[0].Share < 0.99 {
		t.Errorf("causes %+v, want the last test alone", res.Causes)
	}
}
