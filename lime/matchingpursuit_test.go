package lime

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// deciding is a leader with a score, a correlation and a cost; its decision
// was executed as often as it costs.
func deciding(score, corr float64, cost []float64) leader {
	return leader{score: score, corr: corr, cost: cost}
}

// pursued sets up a matching pursuit of T by leaders, each a branch of its own.
func pursued(resp []float64, leaders ...leader) *matchingPursuit {
	in := &instance{folded: 1}
	for i := range resp {
		dense := make([]uint64, len(leaders))
		for j := range leaders {
			dense[j] = uint64(leaders[j].cost[i])
		}
		in.parts = append(in.parts, profile.Part{Counts: sparse(dense)})
	}
	t := newTable(len(leaders), in)
	for j := range leaders {
		x := &leaders[j]
		x.decision = branch{way: way{outcome: outcome{block: profile.BlockID(j), event: profile.EventID(j)}}}
		x.taken = t.counts(x.out().event)
	}
	return newMatchingPursuit(t, t.centre(resp), leaders)
}

func TestMatchingPursuitPassesOver(t *testing.T) {
	resp := []float64{10, 20, 30, 70}
	k := []float64{1, 11, 21, 61}
	for _, c := range []struct {
		s, r float64
		want bool
	}{{0.5, 1, true}, {0.01, 1, false}, {-0.5, 1, false}, {-0.5, -0.3, true}} {
		p := pursued(resp, deciding(c.s, c.r, k))
		p.run()
		if got := len(p.chosen) == 1; got != c.want {
			t.Errorf("s %v, r %v: chosen %v", c.s, c.r, got)
		}
	}
}

// A leader whose cost follows its count less well enters when nothing better
// explains T, and only then.
func TestMatchingPursuitSecondPass(t *testing.T) {
	resp := []float64{10, 20, 30, 70, 20, 10}
	p := pursued(resp, deciding(0.5, 0.9, resp))
	p.candidates[0].costCorr = 0.7
	if p.run(); !slices.Equal(p.chosen, []int{0}) {
		t.Errorf("chose %v", p.chosen)
	}
	p = pursued(resp, deciding(0.5, 0.9, resp))
	p.candidates[0].costCorr = 0.4
	if p.run(); len(p.chosen) > 0 {
		t.Errorf("chose %v", p.chosen)
	}
}

func TestMatchingPursuitTies(t *testing.T) {
	// Equal costs: the event that follows T better, then the greater s, then
	// the outer one.
	resp := []float64{10, 20, 30, 70}
	outer := []float64{110, 120, 130, 170}
	a := deciding(0.5, 0.9, resp)
	for _, b := range []leader{
		deciding(0.5, 0.95, resp),
		deciding(0.6, 0.9, resp),
		deciding(0.5, 0.9, outer),
	} {
		p := pursued(resp, a, b)
		if p.run(); !slices.Equal(p.chosen, []int{1}) {
			t.Errorf("chose %v before %+v", p.chosen, b)
		}
	}
}

// A leader that its cost follows goes before one that lets more through.
func TestMatchingPursuitFollows(t *testing.T) {
	resp := []float64{10, 20, 30, 70}
	p := pursued(resp, deciding(0.5, 0.95, resp), deciding(0.5, 0.9, resp))
	p.candidates[0].costCorr = 0.95
	if p.run(); !slices.Equal(p.chosen, []int{1}) {
		t.Errorf("chose %v", p.chosen)
	}
}

// Where little arises it stands back, but not for a leader that explains less.
func TestMatchingPursuitWeak(t *testing.T) {
	resp := []float64{10, 20, 30, 70}
	for _, c := range []struct {
		k    []float64
		want []int
	}{
		{[]float64{0, 5, 10, 50}, []int{1}},
		{[]float64{0, 0, 0, 15}, []int{0}},
	} {
		p := pursued(resp, deciding(0.04, 1, resp), deciding(0.9, 0.95, c.k))
		if p.run(); !slices.Equal(p.chosen[:1], c.want) {
			t.Errorf("%v: chose %v", c.k, p.chosen)
		}
	}
}

// What is left after a large cause may be small and yet one cause's, exactly.
func TestMatchingPursuitTakesTheRest(t *testing.T) {
	big, small := []float64{0, 0, 0, 100}, []float64{0, 8, 0, 8}
	resp := []float64{0, 8, 0, 108}
	p := pursued(resp, deciding(0.9, 0.99, big), deciding(0.5, 0.5, small))
	if p.run(); !slices.Equal(p.chosen, []int{0, 1}) {
		t.Errorf("chose %v, left %v", p.chosen, p.unexplained())
	}
}

// Taking the way past a body decides nothing: what comes after is executed
// either way. A way into a shared body decides its part.
func TestCostUnderAnEdge(t *testing.T) {
	m := newMachine()
	either := &when{
		cond: func(w *walker) bool { return w.iter < 10 },
		or:   func(w *walker) bool { return w.iter < 10+5*w.id },
		then: []stmt{&work{instructions: 40}}}
	main := m.function("main", &repeat{trips: fixed(100), instructions: 2, body: []stmt{either, &work{instructions: 1000}}})
	p := m.run(all(main, 4)...)
	r := &instance{folded: 1, parts: p.Sections[0].Instances[0].Parts}
	c := newCosts(newGraph(p), newTable(len(p.Events), r), nil, (*misses)(nil).following)
	under := func(from, to profile.BlockID) []float64 {
		x := make([]float64, 4)
		c.addUnder(x, m.edge[[2]profile.BlockID{from, to}])
		return x
	}
	if x := under(either.second, either.join); floats.Max(x) != 0 {
		t.Errorf("past the body: %v", x)
	}
	for i, x := range under(either.second, either.yes) {
		if want := float64(5 * i * 41); math.Abs(x-want) > 1e-9 {
			t.Errorf("thread %d: the second way in costs %v, want %v", i, x, want)
		}
	}
	for i, x := range c.executed {
		if want := float64(p.Instructions(r.parts[i].Counts)); x != want {
			t.Errorf("thread %d: %v instructions, want %v", i, x, want)
		}
	}
}

// Equation 1: what a decision adds to the correlation that its in-flow has.
func TestLeaderScore(t *testing.T) {
	m := newMachine()
	inner := &when{cond: func(w *walker) bool { return w.iter%(w.id+2) == 0 }, then: []stmt{&work{instructions: 50}}}
	outer := &when{cond: func(w *walker) bool { return w.iter < 100+40*skew(w) }, then: []stmt{inner}}
	p := m.run(all(m.function("main", &repeat{trips: fixed(600), instructions: 1, body: []stmt{outer}}), 8)...)
	res := analyse(t, p, Options{})
	parts := p.Sections[0].Instances[0].Parts
	var T, in, out []float64
	for i := range parts {
		c := &parts[i].Counts
		T = append(T, float64(p.Instructions(*c)))
		in = append(in, float64(c.Of(p.Graph.Blocks[inner.head].Count)))
		out = append(out, float64(c.Of(p.Graph.Blocks[inner.yes].Count)))
	}
	g := one(len(T))
	r := func(x []float64) float64 { return floats.Dot(g.unit(x), g.unit(T)) }
	want := r(out) - max(0, r(in))
	k := slices.IndexFunc(res.Causes, func(c Cause) bool { return c.Addr == m.last(inner.head) })
	if k < 0 {
		t.Fatalf("the inner decision is not among %+v", res.Causes)
	}
	if c := res.Causes[k]; math.Abs(c.LeaderScore-want) > 1e-9 || math.Abs(c.Score-c.Beta*want) > 1e-9 {
		t.Errorf("leader score %v, want %v; score %v, β %v", c.LeaderScore, want, c.Score, c.Beta)
	}
}

// Where a way into a function was not counted, its own entries say what part
// of its cost the counted calls have.
func TestCostWithUnknownCalls(t *testing.T) {
	m := newMachine()
	f := m.function("f", &work{instructions: 30})
	direct := &call{f: f}
	some := &when{cond: func(w *walker) bool { return w.iter < 10*w.id }, then: []stmt{direct}}
	pointer := &call{targets: []*function{f}, through: func(*walker) *function { return f }}
	p := m.run(all(m.function("main", &repeat{trips: fixed(100), instructions: 1, body: []stmt{some, pointer}}), 4)...)
	for i := range p.Graph.Edges {
		if e := &p.Graph.Edges[i]; e.Kind == profile.Indirect {
			p.Events[e.Count] = profile.Event{Kind: profile.Hardware, Name: "forgotten", Block: profile.NoBlock, Superior: profile.NoEvent}
			e.Count = profile.NoEvent
		}
	}
	analyse(t, p, Options{}) // it is valid
	c := newCosts(newGraph(p), newTable(len(p.Events), &instance{folded: 1, parts: p.Sections[0].Instances[0].Parts}), nil, (*misses)(nil).following)
	for i, x := range c.block[c.at[direct.block]] {
		if want := float64(10 * i * (2 + 3 + 30)); math.Abs(x-want) > 1e-9 {
			t.Errorf("thread %d: the counted calls cost %v, want %v", i, x, want)
		}
	}
}
