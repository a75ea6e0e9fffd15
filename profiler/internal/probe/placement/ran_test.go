package placement

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
)

// TestRanPlaces: whatever ran before, a function has as many counters and the same
// unknown counts, though they stand elsewhere.
func TestRanPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var space Space
	moved := 0
	graphs(t, func(g *cfg.Graph, excluded []Exclusion) {
		guess := Place(g, excluded, nil, 5, probe.Options{}, nil)
		guess.MarkUnknown()
		ran := make([]byte, len(guess.Edges))
		for i := range ran {
			ran[i] = byte(r.IntN(256))
		}
		w := Place(g, excluded, ran, 5, probe.Options{}, &space)
		w.MarkUnknown()
		if w.Next != guess.Next {
			t.Fatalf("%s: %d counters, by guess %d", g.Name, w.Next-5, guess.Next-5)
		}
		for i := range w.Edges {
			if w.Edges[i].Unknown != guess.Edges[i].Unknown {
				t.Fatalf("%s: edge %d is unknown: %v, by guess %v", g.Name, i, w.Edges[i].Unknown, guess.Edges[i].Unknown)
			}
			if w.Edges[i].Counter != guess.Edges[i].Counter {
				moved++
			}
		}
	})
	if moved < 1000 {
		t.Errorf("only %d edges are counted otherwise", moved)
	}
}

// TestRanHot: where one way through a function ran and nothing else, no counter stands on
// it but one, if it can be helped.
func TestRanHot(t *testing.T) {
	ways := 0
	graphs(t, func(g *cfg.Graph, excluded []Exclusion) {
		w := Place(g, nil, nil, 0, probe.Options{}, nil)
		counts, ok := oneWay(w)
		if !ok || slices.ContainsFunc(w.Edges, func(e Edge) bool { return e.uncountable }) {
			return // what cannot be counted has others counted
		}
		ways++
		w = Place(g, nil, Ran(counts), 0, probe.Options{NoInduction: true}, nil)
		hot := 0
		for i := range w.Edges {
			if w.Edges[i].Counter >= 0 && counts[i] > 0 {
				hot++
			}
		}
		if hot > 1 {
			t.Fatalf("%s: %d counters on the only way", g.Name, hot)
		}
	})
	if ways < 100 {
		t.Errorf("only %d ways were tried", ways)
	}
}

// oneWay counts one way from the entry out of the function that meets itself nowhere.
func oneWay(w *Network) (counts []int64, ok bool) {
	counts = make([]int64, len(w.Edges))
	seen := map[*cfg.Block]bool{}
	for e := w.Graph.Edges[0]; ; {
		if w.Edge(e) < 0 || w.Edges[w.Edge(e)].uncountable {
			return nil, false
		}
		counts[w.Edge(e)] = 1000
		if e.To == nil {
			return counts, true
		}
		i := slices.IndexFunc(e.To.Succ, func(x *cfg.Edge) bool { return x.To == nil || !seen[x.To] })
		if seen[e.To] || i < 0 {
			return nil, false
		}
		seen[e.To] = true
		counts[w.Block(e.To)] = 1000
		e = e.To.Succ[i]
	}
}

// TestRanPacks: what is packed is found again to a fifth, in order, and nothing is not.
func TestRanPacks(t *testing.T) {
	counts := []int64{0, 1, 2, 3, 5, 100, 12345, 1 << 40, 1<<63 - 1}
	last := 0.0
	for i, b := range Ran(counts) {
		got := often(b, 0)
		if n := float64(counts[i]); got > n || got < n*0.8 || got < last {
			t.Errorf("%d is %g when read back", counts[i], got)
		}
		last = got
	}
	if n := Passed(Ran(counts[:6])); n < 0.8*111 || n > 111 {
		t.Errorf("111 edges were passed, %g when read back", n)
	}
	if likely, not := often(0, 7), often(0, 0.1); likely <= not || likely >= 1 {
		t.Errorf("edges that nothing passed weigh %g and %g", likely, not)
	}
}
