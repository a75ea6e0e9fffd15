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
