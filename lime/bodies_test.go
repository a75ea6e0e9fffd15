package lime

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestBodies: what threads run and their creator calls too was inlined into
// both. The creator has least to do: evening out counts its copy in.
func TestBodies(t *testing.T) {
	for _, n := range []int{3, 8} {
		m := newMachine()
		var fs []*function
		for _, name := range []string{"serve", "main"} {
			l := &repeat{trips: func(w *walker) int { return 25 * (1 + (w.id*5)%n) }, instructions: 9}
			fs = append(fs, m.function(name, &repeat{trips: fixed(10), instructions: 2, body: []stmt{l}}))
		}
		mains := all(fs[0], n)
		mains[0] = fs[1]
		p := m.run(mains...)
		located(m)
		likewise(m, fs[1], fs[0])
		for i := range m.p.Locations {
			l := &m.p.Locations[i]
			l.Function = "share"
			if l.InlinedAt = []profile.Frame{{File: "a.c", Line: 7, Function: "serve"}}; l.Address >= m.p.Graph.Functions[1].Entry {
				l.InlinedAt = []profile.Frame{{File: "a.c", Line: 9, Function: "main"}}
			}
		}
		res := analyse(t, p, Options{})
		if len(res.Causes) != 1 || res.Causes[0].Leader != Loop {
			t.Fatalf("%d threads: %+v", n, res.Causes)
		}
		c := res.Causes[0]
		if c.Share < 0.99 || c.Gain < 0.98*res.Imbalance {
			t.Errorf("%d threads: share %g, gain %g of %g", n, c.Share, c.Gain, res.Imbalance)
		}
		for id, trips := range c.Counts {
			if least := uint64(24 * 10 * (1 + (id*5)%n)); trips < least {
				t.Errorf("%d threads: thread %d went round %d times, not %d", n, id, trips, least)
			}
		}
	}
}

// TestBodiesOfTwo: two threads, each with a copy of the body, unrolled twice, in
// which a branch decides: all of a copy goes with who runs it, but that each
// began elsewhere tells nothing, also where they were created for it.
func TestBodiesOfTwo(t *testing.T) {
	for _, created := range []bool{false, true} {
		bodiesOfTwo(t, created)
	}
}

func bodiesOfTwo(t *testing.T, created bool) {
	t.Helper()
	m := newMachine()
	var fs []*function
	var ds []*when
	for _, name := range []string{"serve", "main"} {
		var body []stmt
		for c := range 2 {
			d := &when{cond: func(w *walker) bool { return w.id == 1 && w.iter%2 == c }, then: []stmt{&work{instructions: 40}}}
			ds, body = append(ds, d), append(body, d, &work{instructions: 3})
		}
		fs = append(fs, m.function(name, &repeat{trips: fixed(8), instructions: 2, body: body}))
	}
	p := m.run(fs[1], fs[0])
	if created {
		p.Threads = []profile.Thread{{}, {ID: 1, Start: m.p.Graph.Functions[1].Entry}, {ID: 2, Start: m.p.Graph.Functions[0].Entry}}
	}
	located(m)
	copied(m, ds)
	for i := range m.p.Locations {
		l := &m.p.Locations[i]
		if l.Function, l.InlinedAt = "share", []profile.Frame{{File: "a.c", Line: 7, Function: "serve"}}; l.Address >= m.p.Graph.Functions[1].Entry {
			l.InlinedAt = []profile.Frame{{File: "a.c", Line: 9, Function: "main"}}
		}
	}
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Leader != Branch || res.Causes[0].Share < 0.99 {
		t.Fatalf("created %v: %+v", created, res.Causes)
	}
	if c := res.Causes[0]; c.Counts[0] != 0 || c.Counts[1] != 8 || !slices.ContainsFunc(ds, func(d *when) bool { return m.last(d.head) == c.Addr }) {
		t.Errorf("%+v", c)
	}
}

// TestBrought: of two parts one came to a choice 10 times and the other 8 times.
func TestBrought(t *testing.T) {
	for _, c := range []struct{ taken, want float64 }{{8, 1}, {4, 0.25}, {0, 0.1}} {
		if got := brought([]float64{10, 8}, []float64{10, c.taken}); got < c.want-0.005 || got > c.want+0.005 {
			t.Errorf("%v times: %.3f", c.taken, got)
		}
	}
}
