package solve

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
)

// TestSolveRandomWalks walks at random through the graphs of real programs,
// counts what a walk passes, gives the solver only what has a counter, and
// compares. Walks stop in the middle at calls that may hold the thread.
func TestSolveRandomWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, path := range probetest.Programs(t) {
		s := relocate.New(probetest.Open(t, path), probetest.NoHooks, probe.Options{}, relocate.Numbers{})
		walked, exact, unknown := 0, 0, 0
		if _, err := s.Assemble(s.Home()); err != nil {
			t.Fatal(err)
		}
		for _, q := range s.Plans() {
			w := s.Counters(q, s.Program.Graph(q.Func, nil), nil)
			w.MarkUnknown()
			truth := make([]int64, len(w.Edges))
			for n := 0; n < 3; n++ {
				walk(r, w, truth)
			}
			val := make([]int64, len(w.Edges))
			for i := range w.Edges {
				if w.Edges[i].Counter >= 0 {
					val[i] = truth[i]
				}
			}
			x := eliminate(w)
			conserve(&x, val, nil)
			for i := range w.Edges {
				switch {
				case w.Edges[i].Unknown:
					unknown++
				case val[i] != truth[i]:
					t.Fatalf("%s: %s: edge %s is %d, solved as %d", path, q.Func.Name, describe(&w.Edges[i]), truth[i], val[i])
				default:
					exact++
				}
			}
			walked++
		}
		t.Logf("%s: %d functions, %d edges exact, %d unknown", path, walked, exact, unknown)
		if unknown*100 > exact {
			t.Errorf("%s: %d of %d edges are unknown", path, unknown, exact+unknown)
		}
	}
}

func describe(e *placement.Edge) string { return fmt.Sprintf("%d→%d", e.From, e.To) }

// TestSolveBetween walks from the middle of each function to another place in it, maybe by
// its end and anew from its beginning: as a goroutine does between two records. What
// stays where it stopped is as much as was there when it began.
func TestSolveBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	path := probetest.Programs(t)[0]
	s := relocate.New(probetest.Open(t, path), probetest.NoHooks, probe.Options{}, relocate.Numbers{})
	if _, err := s.Assemble(s.Home()); err != nil {
		t.Fatal(err)
	}
	for _, q := range s.Plans() {
		w := s.Counters(q, s.Program.Graph(q.Func, nil), nil)
		w.MarkUnknown()
		truth, val := make([]int64, len(w.Edges)), make([]int64, len(w.Edges))
		blocks := w.Graph.Blocks
		from := blocks[r.IntN(len(blocks))]
		to := from
		for range r.IntN(50) {
			to = along(w, to.Succ[r.IntN(len(to.Succ))], truth)
			if to == nil {
				to = along(w, w.Graph.Edges[0], truth)
			}
		}
		for i := range w.Edges {
			if w.Edges[i].Counter >= 0 {
				val[i] = truth[i]
			}
		}
		active := map[int32]int64{placement.Out(from): -1}
		active[placement.Out(to)]++
		x := eliminate(w)
		conserve(&x, val, active)
		for i := range w.Edges {
			if !w.Edges[i].Unknown && val[i] != truth[i] {
				t.Fatalf("%s: edge %s is %d, solved as %d", q.Func.Name, describe(&w.Edges[i]), truth[i], val[i])
			}
		}
	}
}

// along passes one edge, and the block that it leads to.
func along(w *placement.Network, e *cfg.Edge, count []int64) *cfg.Block {
	pass(w, e, count)
	if e.To != nil {
		count[w.Block(e.To)]++
	}
	return e.To
}

// walk takes one random way from START to the end of a function.
func walk(r *rand.Rand, w *placement.Network, count []int64) {
	starts := []*cfg.Edge{}
	for _, e := range w.Graph.Edges {
		if e.From == nil {
			starts = append(starts, e)
		}
	}
	e := starts[r.IntN(len(starts))]
	for n := 0; ; n++ {
		b := along(w, e, count)
		if b == nil {
			return
		}
		e = b.Succ[r.IntN(len(b.Succ))]
		if n > 2000 { // find a way out
			seen := map[*cfg.Block]*cfg.Edge{b: nil}
			queue := []*cfg.Block{b}
			var last *cfg.Edge
			for len(queue) > 0 && last == nil {
				x := queue[0]
				queue = queue[1:]
				for _, y := range x.Succ {
					if y.To == nil {
						last = y
						break
					}
					if _, ok := seen[y.To]; !ok {
						seen[y.To] = y
						queue = append(queue, y.To)
					}
				}
			}
			if last == nil { // an endless loop: take the walk back
				for i := range count {
					count[i] = 0
				}
				return
			}
			var way []*cfg.Edge
			for e := last; e != nil; e = seen[e.From] {
				way = append(way, e)
			}
			for i := len(way) - 1; i > 0; i-- {
				along(w, way[i], count)
			}
			e = way[0]
		}
	}
}
