package lime

import (
	"container/heap"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// manyUnits is the number of units above which list scheduling would differ
// from water-filling by less than anyone can see.
const manyUnits = 20000

// cost is what a cause costs each part, in units of T: unknownCost, divisible
// or units.
type cost interface {
	// saved returns by how much Σ max T falls when the cost is evened out, and
	// when it is scheduled anew in whole units; NaN: not to be said.
	saved(gs groups, response []float64) (evened, scheduled float64)
	// perPart is the cost itself; nil: unknown.
	perPart() []float64
}

type (
	unknownCost struct{}
	// divisible is a cost that comes in no units.
	divisible []float64
	// units is a cost that comes in as many units as a decision was executed.
	units struct{ cost, executed []float64 }
)

func (unknownCost) perPart() []float64 { return nil }
func (k divisible) perPart() []float64 { return k }
func (k units) perPart() []float64     { return k.cost }

func (unknownCost) saved(groups, []float64) (evened, scheduled float64) {
	return math.NaN(), math.NaN()
}

func (k divisible) saved(gs groups, response []float64) (evened, scheduled float64) {
	return gs.savedByEvening(response, k), math.NaN()
}

func (k units) saved(gs groups, response []float64) (evened, scheduled float64) {
	evened = gs.savedByEvening(response, k.cost)
	return evened, min(evened, gs.savedByScheduling(response, k.cost, k.executed))
}

// savedByEvening returns by how much Σ max T falls when a cost is evened out
// between the threads of each group (rule 10): an upper bound, since nothing
// says that the work can be moved. It may be negative: evening a cause that
// makes up for another one costs time.
func (gs groups) savedByEvening(response, cost []float64) float64 {
	centred, sum := gs.centre(cost), 0.0
	for _, g := range gs {
		before, after := math.Inf(-1), math.Inf(-1)
		for c := g.from; c < g.to; c++ {
			before = max(before, response[c])
			after = max(after, response[c]-centred[c])
		}
		sum += before - after
	}
	return sum
}

// savedByScheduling is the same when the work comes in whole units: the cost
// of each group comes in as many units as the decision was executed, each given
// to the least-loaded thread. One unit on one thread saves nothing. It may save
// more than evening: where units fill gaps that other causes left, that is not
// this cause's doing, and it is not promised (units.saved).
func (gs groups) savedByScheduling(response, cost, executed []float64) float64 {
	sum := 0.0
	for _, g := range gs {
		// A folded group is a sum over executions: schedule an average one.
		scale := float64(g.folded)
		base := make([]float64, g.to-g.from)
		for i := range base {
			base[i] = max(0, response[g.from+i]-cost[g.from+i]) / scale
		}
		work := floats.Sum(cost[g.from:g.to]) / scale
		n := math.Round(floats.Sum(executed[g.from:g.to]) / scale)
		sum += floats.Max(response[g.from:g.to]) - scale*listSchedule(base, work, max(1, n))
	}
	return sum
}

// listSchedule returns the greatest load when work is added to loads in n equal
// units, each to the smallest load then.
func listSchedule(base []float64, work, n float64) float64 {
	if n > manyUnits {
		return waterFill(base, work)
	}
	h := append(loads(nil), base...)
	heap.Init(&h)
	for range int(n) {
		h[0] += work / n
		heap.Fix(&h, 0)
	}
	return floats.Max(h)
}

// waterFill returns the greatest load when work is added to loads in portions
// as small as one likes: it rises like water over them.
func waterFill(base []float64, work float64) float64 {
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
