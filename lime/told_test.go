package lime

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// chosen is a program in which the first thread alone calls a function for many rounds, at
// a call of its own, and the others for few; passes is what the calls pass.
func chosen(t *testing.T, passes profile.Inputs, threads int) (res *Result, branch, loop profile.Addr) {
	t.Helper()
	m := newMachine()
	rounds := 0
	l := &repeat{trips: func(*walker) int { return rounds }, instructions: 9}
	f := m.function("work", l)
	many, few := &call{f: f}, &call{f: f}
	d := &when{
		cond:      func(w *walker) bool { return w.id == 0 },
		then:      []stmt{before(func() { rounds = 800 }), many},
		otherwise: []stmt{before(func() { rounds = 100 }), few}}
	p := m.run(all(m.function("main", d), threads)...)
	p.Graph.Blocks[l.latch].Branch = profile.InputsKnown | 1<<1 // by the second argument
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.Kind == profile.Call {
			e.Passes = uint64(profile.InputsKnown|profile.InputData) | uint64(passes)<<8
		}
	}
	return analyse(t, p, Options{}), m.last(d.head), m.last(l.latch)
}

// TestTold: where constants alone tell how often a loop goes round, who calls decides, even
// if one thread alone came that way; where data may, the loop does.
func TestTold(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		res, branch, _ := chosen(t, profile.InputsKnown, n)
		if len(res.Causes) != 1 || res.Causes[0].Leader != Branch || res.Causes[0].Addr != branch || res.Causes[0].Share < 0.95 {
			t.Errorf("%d threads, constants: %+v, want the branch at %#x", n, res.Causes, uint64(branch))
		}
		for _, x := range []profile.Inputs{profile.InputsKnown | profile.InputData, profile.InputsKnown | 1, 0} {
			res, _, loop := chosen(t, x, n)
			if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || res.Causes[0].Addr != loop {
				t.Errorf("%d threads, %#x: %+v, want the loop at %#x", n, x, res.Causes, uint64(loop))
			}
		}
	}
}

// TestWayTells: one loop, for which two ways set how often it goes round.
func TestWayTells(t *testing.T) {
	for _, by := range []profile.Inputs{profile.InputsKnown, profile.InputsKnown | profile.InputData} {
		m := newMachine()
		d := &when{cond: func(w *walker) bool { return w.id == 0 }, then: []stmt{&work{instructions: 2}}, otherwise: []stmt{&work{instructions: 2}}}
		l := &repeat{trips: func(w *walker) int {
			if w.id == 0 {
				return 800
			}
			return 100
		}, instructions: 9}
		p := m.run(all(m.function("main", d, l), 4)...)
		p.Graph.Blocks[l.latch].Branch = by
		res := analyse(t, p, Options{})
		want, at := Branch, m.last(d.head)
		if by&profile.InputData != 0 {
			want, at = Loop, m.last(l.latch)
		}
		if len(res.Causes) != 1 || res.Causes[0].Leader != want || res.Causes[0].Addr != at || res.Causes[0].Share < 0.95 {
			t.Errorf("%#x: %+v, want the %s at %#x", by, res.Causes, want, uint64(at))
		}
	}
}

// either goes to one body from two tests, with something between these.
type either struct {
	first, second      func(*walker) bool
	head, between, alt profile.BlockID
	body               profile.BlockID
	yes                *work
	join               profile.BlockID
}

func (s *either) emit(m *machine) {
	s.head, s.alt, s.between = m.newBlock(2), m.newBlock(3), m.newBlock(20)
	s.body = m.newBlock(1)
	m.link(m.cur, s.head, profile.Fall)
	m.link(s.head, s.alt, profile.Fall)
	m.link(s.head, s.between, profile.Taken)
	m.link(s.alt, s.body, profile.Taken)
	m.link(s.alt, s.between, profile.Fall)
	m.link(s.between, s.body, profile.Taken)
	m.cur = s.body
	s.yes = &work{instructions: 900}
	s.yes.emit(m)
	s.join = m.newBlock(1)
	m.link(m.cur, s.join, profile.Fall)
	m.link(s.between, s.join, profile.Fall)
	m.cur = s.join
}

func (s *either) run(w *walker) {
	w.step(s.head)
	mine := w.id == 0
	if mine {
		w.step(s.alt)
	}
	if !mine || !s.first(w) {
		w.step(s.between)
		if !s.second(w) {
			w.step(s.join)
			return
		}
	}
	w.step(s.body)
	s.yes.run(w)
	w.step(s.join)
}

// TestEither: of two tests that lead to one body, one thread comes there by either as often:
// all of it is due to what lets it come to them, and not a half.
func TestEither(t *testing.T) {
	m := newMachine()
	s := &either{first: func(w *walker) bool { return w.iter%2 == 0 }, second: func(w *walker) bool { return w.id == 0 }}
	p := m.run(all(m.function("main", &repeat{trips: fixed(40), instructions: 2, body: []stmt{s}}), 4)...)
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(s.head) || res.Causes[0].Share < 0.95 {
		t.Errorf("%+v, want the branch at %#x", res.Causes, uint64(m.last(s.head)))
	}
}

// TestDataDecide: constants tell how often loops go round, but data whether one is come to,
// in a function that the first thread alone calls elsewhere, as main does what it creates
// the others for: the choice decides, and not who calls.
func TestDataDecide(t *testing.T) {
	m := newMachine()
	rounds := 0
	l := &repeat{trips: func(*walker) int { return rounds }, instructions: 9}
	f := m.function("work", l)
	choice := &when{cond: func(w *walker) bool { return w.id == 0 }, then: []stmt{before(func() { rounds = 800 }), &call{f: f}}}
	body := m.function("body", choice, before(func() { rounds = 200 }), &call{f: f})
	p := m.run(all(m.function("main", &when{
		cond:      func(w *walker) bool { return w.id == 0 },
		then:      []stmt{&call{f: body}},
		otherwise: []stmt{&call{f: body}},
	}), 4)...)
	p.Graph.Blocks[l.latch].Branch = profile.InputsKnown | 1
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.Kind == profile.Call {
			e.Passes = uint64(profile.InputsKnown)
		}
	}
	for _, by := range []profile.Inputs{profile.InputsKnown | profile.InputData, 0} {
		p.Graph.Blocks[choice.head].Branch = by
		res := analyse(t, p, Options{})
		if len(res.Causes) != 1 || res.Causes[0].Leader != Branch || res.Causes[0].Addr != m.last(choice.head) || res.Causes[0].Share < 0.95 {
			t.Errorf("%#x: %+v, want the branch at %#x", by, res.Causes, uint64(m.last(choice.head)))
		}
	}
}
