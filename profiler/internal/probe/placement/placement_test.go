package placement

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// graphs calls do for the functions of some programs, with a few exclusions at random.
func graphs(t *testing.T, do func(g *cfg.Graph, excluded []Exclusion)) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, path := range probetest.Programs(t) {
		p := probetest.Open(t, path)
		var space cfg.Space
		for _, f := range p.Funcs {
			if f.Skip != "" {
				continue
			}
			g := p.Graph(f, &space)
			if g.Torn != 0 {
				continue
			}
			var x []Exclusion
			for n := r.IntN(4); n > 0; n-- {
				switch k := ExclusionKind(r.IntN(3)); k {
				case ExcludeEdge:
					if e := g.Edges[r.IntN(len(g.Edges))]; e.Kind != cfg.Table {
						x = append(x, Exclusion{k, int32(e.ID)})
					}
				default:
					x = append(x, Exclusion{k, int32(r.IntN(len(g.Blocks)))})
				}
			}
			do(g, x)
		}
	}
}

// components numbers the nodes by what some edges connect.
func components(w *Network, take func(e *Edge) bool) (of []int32, cyclic bool) {
	set := make([]int32, w.Nodes)
	for i := range set {
		set[i] = int32(i)
	}
	for i := range w.Edges {
		if e := &w.Edges[i]; take(e) {
			a, b := root(set, e.From), root(set, e.To)
			cyclic = cyclic || a == b
			set[a] = b
		}
	}
	for i := range set {
		of = append(of, root(set, int32(i)))
	}
	return of, cyclic
}

func distinct(of []int32) int {
	seen := map[int32]bool{}
	for _, x := range of {
		seen[x] = true
	}
	return len(seen)
}

// TestTreeSpans: the edges without a counter are a forest that connects what
// the network connects, but for the ones that nothing can count; the counters
// are numbered one behind the other; and nothing excluded has one.
func TestTreeSpans(t *testing.T) {
	var space Space
	graphs(t, func(g *cfg.Graph, excluded []Exclusion) {
		w := Place(g, excluded, nil, 100, probe.Options{}, &space)
		if _, cyclic := components(w, func(e *Edge) bool { return e.Tree }); cyclic {
			t.Fatalf("%s: the tree has a cycle", g.Name)
		}
		all, _ := components(w, func(*Edge) bool { return true })
		tree, _ := components(w, func(e *Edge) bool { return e.Tree })
		if a, b := distinct(all), distinct(tree); a != b {
			t.Fatalf("%s: the network has %d parts, its tree %d", g.Name, a, b)
		}
		seen := map[int32]bool{}
		for i := range w.Edges {
			e := &w.Edges[i]
			if e.Counter >= 0 != (!e.Tree && !e.uncountable) {
				t.Fatalf("%s: edge %d→%d: counter %d, tree %v, uncountable %v", g.Name, e.From, e.To, e.Counter, e.Tree, e.uncountable)
			}
			if e.Counter >= 0 {
				if seen[e.Counter] || e.Counter < 100 || e.Counter >= w.Next {
					t.Fatalf("%s: counter %d of %d…%d", g.Name, e.Counter, 100, w.Next)
				}
				seen[e.Counter] = true
			}
		}
		if len(seen) != int(w.Next)-100 {
			t.Fatalf("%s: %d counters, numbered to %d", g.Name, len(seen), w.Next)
		}
		for _, x := range excluded {
			if i := excludedEdge(w, x); i >= 0 && w.Edges[i].Counter >= 0 {
				t.Fatalf("%s: %v has a counter", g.Name, x)
			}
		}
	})
}

func excludedEdge(w *Network, x Exclusion) int32 {
	switch x.What {
	case ExcludeBlock:
		return w.Block(w.Graph.Blocks[x.ID])
	case ExcludeEdge:
		return w.Edge(w.Graph.Edges[x.ID])
	}
	return w.FromHub(w.Graph.Blocks[x.ID])
}

// TestUnknownIsWhatNothingDetermines: an edge's count follows from the counters
// if and only if it lies on no cycle of edges without any. The test asks for
// that the other way round: whether its ends are connected without it.
func TestUnknownIsWhatNothingDetermines(t *testing.T) {
	some := 0
	graphs(t, func(g *cfg.Graph, excluded []Exclusion) {
		if len(g.Blocks) > 60 {
			return // slow, and the same
		}
		w := Place(g, excluded, nil, 0, probe.Options{}, nil)
		if found := w.MarkUnknown(); !found {
			return
		}
		some++
		for i := range w.Edges {
			e := &w.Edges[i]
			of, _ := components(w, func(x *Edge) bool { return x != e && x.Counter < 0 })
			if want := e.Counter < 0 && of[e.From] == of[e.To]; e.Unknown != want {
				t.Fatalf("%s: edge %d→%d unknown: %v, want %v", g.Name, e.From, e.To, e.Unknown, want)
			}
		}
	})
	if some < 50 {
		t.Errorf("only %d functions have unknown counts", some)
	}
}

// TestSameAgain: a network is a function of what it is made from, in new memory
// or in old; and options turn off what they say.
func TestSameAgain(t *testing.T) {
	var space Space
	graphs(t, func(g *cfg.Graph, excluded []Exclusion) {
		a, b := Place(g, excluded, nil, 7, probe.Options{}, nil), Place(g, excluded, nil, 7, probe.Options{}, &space)
		if a.Next != b.Next || !reflect.DeepEqual(numbers(a), numbers(b)) {
			t.Fatalf("%s: placed again, counters are others", g.Name)
		}
		for _, e := range Place(g, excluded, nil, 7, probe.Options{NoInduction: true}, &space).Edges {
			if e.Induction != nil {
				t.Fatalf("%s: an induction counter", g.Name)
			}
		}
		for _, e := range Place(g, excluded, nil, 7, probe.Options{NoTree: true}, &space).Edges {
			if !e.uncountable && e.Counter < 0 {
				t.Fatalf("%s: edge %d→%d has no counter", g.Name, e.From, e.To)
			}
		}
	})
}

func numbers(w *Network) (list []string) {
	for i := range w.Edges {
		e := &w.Edges[i]
		list = append(list, fmt.Sprint(e.From, e.To, e.Counter, e.Tree, e.Induction != nil))
	}
	return list
}

// TestCountingPoint compares with trying all places.
func TestCountingPoint(t *testing.T) {
	graphs(t, func(g *cfg.Graph, _ []Exclusion) {
		for _, b := range g.Blocks {
			want, dead := 0, false
			for k := len(b.Insns) - 1; k >= 0; k-- {
				before := true
				for i := range k {
					before = before && !b.Insns[i].Kind.IsCall()
				}
				if before && b.LiveAt(k, b.LiveOut)&^x86.CF == 0 {
					want, dead = k, true
				}
			}
			if k, ok := CountingPoint(b); k != want || ok != dead {
				t.Fatalf("%s: block at %#x counts at %d %v, want %d %v", g.Name, b.Start, k, ok, want, dead)
			}
		}
	})
}
