package lime

import (
	"math"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// located gives blocks' first and last instructions source lines, each its own.
func located(m *machine) {
	for i := range m.p.Graph.Blocks {
		b := &m.p.Graph.Blocks[i]
		f := m.p.Graph.Functions[b.Function].Name
		m.p.Locations = append(m.p.Locations,
			profile.Location{Address: b.Start, Frame: profile.Frame{File: "a.c", Line: 1000 + i, Column: 1, Function: f}},
			profile.Location{Address: b.Last, Frame: profile.Frame{File: "a.c", Line: 2000 + i, Column: 1, Function: f}})
	}
}

// source gives an address the source of another one.
func source(m *machine, a, of profile.Addr) {
	l, _ := m.p.Location(of)
	i := slices.IndexFunc(m.p.Locations, func(l profile.Location) bool { return l.Address == a })
	l.Address = a
	m.p.Locations[i] = l
}

// likewise gives the blocks of a function the source of those of another one, one by one.
func likewise(m *machine, f, of *function) {
	g := m.p.Graph.Functions
	for i := range profile.BlockID(g[f.id].N) {
		a, b := &m.p.Graph.Blocks[g[f.id].First+i], &m.p.Graph.Blocks[g[of.id].First+i]
		source(m, a.Start, b.Start)
		source(m, a.Last, b.Last)
	}
}

// copied makes decisions copies of the first one.
func copied(m *machine, ds []*when) {
	for _, d := range ds[1:] {
		source(m, m.last(d.head), m.last(ds[0].head))
		source(m, m.p.Graph.Blocks[d.yes].Start, m.p.Graph.Blocks[ds[0].yes].Start)
	}
}

// A loop unrolled four times: each copy of the decision in it is taken by
// some of the threads only, and none of them goes with the response.
func TestCopiesAreOneCause(t *testing.T) {
	for _, n := range []int{4, 8, 16} {
		m := newMachine()
		var ds []*when
		var body []stmt
		for c := range 4 {
			d := &when{cond: func(w *walker) bool { return w.id%4 == c && w.iter < 30+10*skew(w) }, then: []stmt{&work{instructions: 40}}}
			ds, body = append(ds, d), append(body, d)
		}
		p := m.run(all(m.function("main", &repeat{trips: fixed(300), instructions: 1, body: body}), n)...)
		located(m)
		copied(m, ds)
		res := analyse(t, p, Options{})
		if len(res.Causes) != 1 {
			t.Fatalf("%d threads: %+v", n, res.Causes)
		}
		c := res.Causes[0]
		if !slices.ContainsFunc(ds, func(d *when) bool { return m.last(d.head) == c.Addr }) || c.Leader != Branch {
			t.Errorf("%d threads: cause %+v", n, c)
		}
		if c.Share < 0.99 || math.Abs(c.Gain-res.Imbalance) > 0.01 || math.Abs(c.Gain-res.JointGain) > 1e-9 {
			t.Errorf("%d threads: share %v, gain %v, joint %v, imbalance %v", n, c.Share, c.Gain, res.JointGain, res.Imbalance)
		}
		for id, got := range c.Counts {
			if want := 30 + 10*((id*7+3)%(n+1)); got != uint64(want) {
				t.Errorf("thread %d took it %d times, want %d", id, got, want)
			}
		}
		for _, x := range c.Members {
			for _, d := range ds {
				if x.Addr == m.last(d.head) && x.Corr > 0.999 && len(c.Members) == 1 {
					t.Errorf("a copy is a member: %+v", x)
				}
			}
		}
	}
}

// A loop over rounds unrolled: each instance runs a copy of its own.
func TestCopiesInTurn(t *testing.T) {
	m := newMachine()
	var ds []*when
	var body []stmt
	for c := range 3 {
		d := &when{cond: func(w *walker) bool { return w.m.round == c && w.iter < 20*skew(w) }, then: []stmt{&work{instructions: 40}}}
		ds, body = append(ds, d), append(body, d)
	}
	mains := all(m.function("main", &repeat{trips: fixed(300), instructions: 1, body: body}), 8)
	m.start(mains)
	for m.round = range 3 {
		m.instance(mains)
	}
	if res := analyse(t, &m.p, Options{}); len(res.Causes) != 3 {
		t.Errorf("without source lines: %+v", res.Causes)
	}
	located(m)
	copied(m, ds)
	res := analyse(t, &m.p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Share < 0.99 || res.Causes[0].Counts[0] != 3*20*3 {
		t.Errorf("%+v", res.Causes)
	}
	// The paper's method reports what the code has.
	if res := analyse(t, &m.p, Options{Method: Paper}); len(res.Causes) < 3 {
		t.Errorf("paper: %+v", res.Causes)
	}
}

// What a decision decides is no copy of it, whatever line it stands on; nor is
// its other outcome.
func TestNestedIsNoCopy(t *testing.T) {
	m := newMachine()
	inner := &when{cond: func(w *walker) bool { return w.iter%2 == 0 && w.id != 3 }, then: []stmt{&work{instructions: 60}}}
	outer := &when{cond: func(w *walker) bool { return w.iter < 40*w.id }, then: []stmt{inner, &work{instructions: 50}}}
	p := m.run(all(m.function("main", &repeat{trips: fixed(300), instructions: 1, body: []stmt{outer}}), 8)...)
	located(m)
	copied(m, []*when{outer, inner})
	res := analyse(t, p, Options{})
	if res.R2 > 1 || res.JointGain > res.Imbalance+0.01 {
		t.Errorf("counted twice: %+v", res)
	}
}

// Two branches on one line are not always copies: one that all threads take
// often must not hide the one that a single thread takes once.
func TestOneLineTwoDecisions(t *testing.T) {
	m := newMachine()
	all8 := &when{cond: func(w *walker) bool { return w.iter < 250+w.id%3 }, then: []stmt{&work{instructions: 3}}}
	one := &when{cond: func(w *walker) bool { return w.id == 1 }, then: []stmt{&repeat{trips: fixed(500), instructions: 20}}}
	p := m.run(all(m.function("main", &repeat{trips: fixed(300), instructions: 1, body: []stmt{all8}}, one), 8)...)
	located(m)
	copied(m, []*when{all8, one})
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(one.head) || res.Causes[0].Share < 0.99 {
		t.Errorf("%+v", res.Causes)
	}
}

// The main thread runs its own copy of the threads' function, inlined at its
// call. In each copy everything goes with who runs it.
func TestInlinedThreadFunction(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		for _, heavy := range []int{0, n - 1} {
			m := newMachine()
			var fs []*function
			var ls []*repeat
			for _, name := range []string{"serve", "main"} {
				l := &repeat{trips: func(w *walker) int {
					if w.id == heavy {
						return 400
					}
					return 25
				}, instructions: 9}
				ls, fs = append(ls, l), append(fs, m.function(name, &repeat{trips: fixed(10), instructions: 2, body: []stmt{l}}))
			}
			mains := all(fs[0], n)
			mains[0] = fs[1]
			p := m.run(mains...)
			located(m)
			likewise(m, fs[1], fs[0])
			for i := range m.p.Locations {
				if l := &m.p.Locations[i]; l.Address >= m.p.Graph.Functions[1].Entry {
					l.InlinedAt = []profile.Frame{{File: "a.c", Line: 7, Function: "main"}}
				}
			}
			for id := range n {
				p.Threads = append(p.Threads, profile.Thread{ID: profile.ThreadID(id), Start: m.p.Graph.Functions[0].Entry})
			}
			p.Threads = append(p.Threads, profile.Thread{ID: profile.ThreadID(n)})
			res := analyse(t, p, Options{})
			if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || res.Causes[0].Share < 0.99 {
				t.Errorf("%d threads, thread %d heavy: %+v", n, heavy, res.Causes)
				continue
			}
			if at := res.Causes[0].Addr; at != m.last(ls[0].latch) && at != m.last(ls[1].latch) {
				t.Errorf("%d threads, thread %d heavy: at %#x", n, heavy, uint64(at))
			}
		}
	}
}

// Some threads run one copy of a loop, some another, and two of them half of each: in
// each copy a branch is taken as often as it is come to, nearly, and only both show that
// the difference arises there.
func TestCopiesSharedOut(t *testing.T) {
	m := newMachine()
	var ds []*when
	var body []stmt
	for c := range 2 {
		rounds := func(w *walker) int {
			if w.id == 3 || w.id == 4 {
				return 200
			}
			return max(1, []int{400 * (1 - w.id/4), 400 * (w.id / 4)}[c])
		}
		d := &when{cond: func(w *walker) bool { return w.iter < rounds(w)*(20+skew(w))/40 }, then: []stmt{&work{instructions: 90}}}
		ds, body = append(ds, d), append(body, &repeat{trips: rounds, instructions: 1, body: []stmt{d}})
	}
	p := m.run(all(m.function("main", body...), 8)...)
	if res := analyse(t, p, Options{}); slices.ContainsFunc(res.Causes, func(c Cause) bool { return c.Leader == Branch }) {
		t.Fatalf("without source lines, which shows nothing: %+v", res.Causes)
	}
	located(m)
	copied(m, ds)
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Leader != Branch || res.Causes[0].Share < 0.95 {
		t.Errorf("%+v", res.Causes)
	}
}
