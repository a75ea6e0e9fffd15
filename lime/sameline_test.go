package lime

import (
	"math"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// twice is a function that goes through two decisions in each instance: one makes odd
// threads slow, the other even ones, so that to even one of them out saves nothing.
func twice(n int) (m *machine, p *profile.Profile, ds []*when) {
	m = newMachine()
	var body []stmt
	for c := range 2 {
		d := &when{cond: func(w *walker) bool { return w.id%2 == c && w.iter < 60*w.id/2 }, then: []stmt{&work{instructions: 40}}}
		ds, body = append(ds, d), append(body, &repeat{trips: fixed(600), instructions: 1, body: []stmt{d}})
	}
	p = m.run(all(m.function("main", body...), n)...)
	located(m)
	return m, p, ds
}

// inline says that a decision stands in what was inlined at a call of its own.
func inline(m *machine, of *when, line int) {
	at := m.last(of.head)
	i := slices.IndexFunc(m.p.Locations, func(l profile.Location) bool { return l.Address == at })
	m.p.Locations[i].InlinedAt = []profile.Frame{{File: "a.c", Line: line, Function: "main"}}
}

// A function that was inlined twice where both copies run is one cause, whose gain is that
// of evening both; conditions of one line that have columns of their own are two.
func TestOneLineIsOneCause(t *testing.T) {
	for _, n := range []int{4, 8, 16} {
		m, p, ds := twice(n)
		apart := analyse(t, p, Options{})
		if len(apart.Causes) != 2 || apart.Causes[0].Gain+apart.Causes[1].Gain > apart.JointGain*0.6 {
			t.Fatalf("%d threads, two lines: %+v", n, apart)
		}
		copied(m, ds)
		inline(m, ds[0], 7)
		inline(m, ds[1], 9)
		res := analyse(t, p, Options{})
		if len(res.Causes) != 1 {
			t.Fatalf("%d threads, one line: %+v", n, res.Causes)
		}
		c := res.Causes[0]
		if math.Abs(c.Gain-res.JointGain) > 1e-9 || math.Abs(c.Gain-res.Imbalance) > 0.01 || c.Share < 0.99 || math.Abs(c.Beta-1) > 0.01 {
			t.Errorf("%d threads: share %v, β %v, gain %v, joint %v, imbalance %v", n, c.Share, c.Beta, c.Gain, res.JointGain, res.Imbalance)
		}
		for id, got := range c.Counts {
			if want := 60 * id / 2; got != uint64(want) {
				t.Errorf("thread %d took it %d times, want %d", id, got, want)
			}
		}
		if change := slices.Max(res.Moved[0]) - slices.Min(res.Moved[0]); change < float64(40*60*(n-2)/2) {
			t.Errorf("%d threads: moved %v", n, res.Moved)
		}
		at := m.last(ds[1].head)
		i := slices.IndexFunc(m.p.Locations, func(l profile.Location) bool { return l.Address == at })
		m.p.Locations[i].Column = 40
		if res := analyse(t, p, Options{}); len(res.Causes) != 2 {
			t.Errorf("%d threads, two columns: %+v", n, res.Causes)
		}
	}
}

// Several ways on from one branch are one cause, in whatever of them the imbalance is.
func TestWaysOfOneBranchAreOneCause(t *testing.T) {
	m, p, ds := twice(8)
	source(m, m.last(ds[1].head), m.last(ds[0].head)) // where they lead differs
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || math.Abs(res.Causes[0].Gain-res.JointGain) > 1e-9 {
		t.Errorf("%+v", res)
	}
}

// Who reads causes may say that some are one: then they are counted so.
func TestJoin(t *testing.T) {
	_, p, _ := twice(8)
	res := analyse(t, p, Options{})
	joint, share, counts := res.JointGain, res.Causes[0].Share+res.Causes[1].Share, slices.Clone(res.Causes[0].Counts)
	if res.Join(nil) || len(res.Causes) != 2 {
		t.Error("nothing was to be joined")
	}
	if !res.Join([][]int{{0, 1}}) || len(res.Causes) != 1 {
		t.Fatalf("%+v", res.Causes)
	}
	c := res.Causes[0]
	if math.Abs(c.Gain-joint) > 1e-9 || res.JointGain != joint || math.Abs(c.Share-share) > 1e-9 || !slices.Equal(c.Counts, counts) {
		t.Errorf("gain %v of %v, share %v of %v, counts %v", c.Gain, joint, c.Share, share, c.Counts)
	}
	after := 0.0
	for i, q := range p.Sections[0].Instances[0].Parts {
		after = max(after, float64(p.Instructions(q.Counts))+res.Moved[0][i])
	}
	most := 0.0
	for _, x := range res.Threads {
		most = max(most, float64(x.Instructions))
	}
	if got := 1 - after/most; math.Abs(got-c.Gain) > 1e-6 {
		t.Errorf("what is moved saves %v, the gain is %v", got, c.Gain)
	}
}
