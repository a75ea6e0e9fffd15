package lime

import (
	"container/heap"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// manyUnits is the number of units above which dealing them one by one would
// differ from pouring them by less than anyone can see.
const manyUnits = 20000

// saved returns by how much Σ max T falls when k is evened out between the
// threads of each group (rule 10): an upper bound, since nothing says that
// the work can be moved. It may be negative: evening a cause that makes up
// for another one costs time.
func (gs groups) saved(resp, k []float64) float64 {
	kc, sum := gs.centre(k), 0.0
	for _, g := range gs {
		most, after := math.Inf(-1), math.Inf(-1)
		for c := g.from; c < g.to; c++ {
			most = max(most, resp[c])
			after = max(after, resp[c]-kc[c])
		}
		sum += most - after
	}
	return sum
}

// savedWhole is the same when the work comes in whole units: the Σ k of each
// group is dealt in as many units as the decision was executed (counts), each
// to the least-loaded thread. One unit on one thread saves nothing.
func (gs groups) savedWhole(resp, k, counts []float64) float64 {
	sum := 0.0
	for _, g := range gs {
		// A folded group is a sum over executions: deal in an average one.
		scale := float64(g.folded)
		base := make([]float64, g.to-g.from)
		for i := range base {
			base[i] = max(0, resp[g.from+i]-k[g.from+i]) / scale
		}
		work := floats.Sum(k[g.from:g.to]) / scale
		n := math.Round(floats.Sum(counts[g.from:g.to]) / scale)
		sum += floats.Max(resp[g.from:g.to]) - scale*deal(base, work, max(1, n))
	}
	return sum
}

// deal returns the greatest load after dealing work in n equal units.
func deal(base []float64, work, n float64) float64 {
	if n > manyUnits {
		return pour(base, work)
	}
	h := append(loads(nil), base...)
	heap.Init(&h)
	for range int(n) {
		h[0] += work / n
		heap.Fix(&h, 0)
	}
	return floats.Max(h)
}

// pour returns the greatest load when work is poured like water over base.
func pour(base []float64, work float64) float64 {
	b := append([]float64(nil), base...)
	sort.Float64s(b)
	level, sum := 0.0, 0.0
	for k, x := range b {
		sum += x
		level = (work + sum) / float64(k+1)
		if k+1 == len(b) || level <= b[k+1] {
			break
		}
	}
	return max(level, b[len(b)-1])
}

// loads is a heap of the threads' loads.
type loads []float64

func (h loads) Len() int           { return len(h) }
func (h loads) Less(i, j int) bool { return h[i] < h[j] }
func (h loads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *loads) Push(x any)        { *h = append(*h, x.(float64)) }
func (h *loads) Pop() any          { panic("lime: loads only change") }
