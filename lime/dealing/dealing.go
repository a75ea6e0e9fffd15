package dealing

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// Kind is a way of dealing units out.
type Kind string

const (
	Blocks       Kind = "blocks"        // each part has as many that follow each other
	Turns        Kind = "turns"         // each in turn has one
	Demand       Kind = "demand"        // whoever is free takes the next so many
	Guided       Kind = "guided"        // whoever is free takes its share of what is left: of n units n/P
	LongestFirst Kind = "longest-first" // whoever is free takes the longest that is left
	Stealing     Kind = "stealing"      // in blocks; who is done takes half of what another has left
)

// Dealing is a way of dealing units out, and what the longest parts would have
// to do.
type Dealing struct {
	Kind  Kind
	Chunk int    // units that are taken at a time, on demand
	Most  uint64 // Σ over the rounds of the instructions of the part that does most
}

// Outlook is what is known of a section's units, and of other dealings.
type Outlook struct {
	Units   uint64 // in all rounds
	Rounds  int
	Parts   int     // in most rounds
	Mean    float64 // instructions of a unit
	Largest uint64
	Share   float64 // of the largest unit, of its round's units
	// Today is Σ over the rounds of the part that does most: as it was, or, where
	// whoever is free takes the next one, as it would be with a core for each.
	Today    uint64
	Bound    uint64    // no dealing does with less: of a round the largest unit, or the mean part
	Limit    int       // threads, beyond which the largest unit is more than the mean part, in most rounds
	Costs    []float64 // means of units that follow each other, over the rounds, at most 200
	Dealings []Dealing
	Forecast []Forecast // none where much is done besides the units
}

// Forecast is the section at another number of threads.
type Forecast struct {
	Threads int
	Today   float64 // speedup over one thread as it is dealt today; 0: not known
	Best    float64 // and at the best dealing,
	How     Dealing
	Largest bool // which the largest unit limits

	Dealings []Dealing // all that were tried there, the best first
	Bound    uint64    // no dealing does with less there
}

// chunks are those that are tried on demand.
var chunks = []int{1, 4, 16, 64}

// wider are the numbers of threads that are looked at, as multiples of today's.
var wider = []int{1, 2, 4, 8}

const mostThreads = 1024 // that are looked at

// Of is the outlook of a section's units; nil where there are none.
func Of(u *profile.Units) *Outlook {
	if u == nil {
		return nil
	}
	var rounds []round
	o := &Outlook{}
	for i := range u.Rounds {
		if y := newRound(&u.Rounds[i]); len(y.costs) > 0 {
			rounds = append(rounds, y)
			o.Parts = max(o.Parts, len(y.rest))
		}
	}
	if len(rounds) == 0 {
		return nil
	}
	o.Rounds = len(rounds)
	o.measure(rounds)
	today := today(u.Dealt, rounds)
	if o.Today = sum(rounds, func(y *round) uint64 { return y.most }); u.Dealt == profile.DealtOnDemand {
		o.Today = sum(rounds, func(y *round) uint64 { return y.deal(today.Kind, today.Chunk, len(y.rest)) })
	}
	o.Bound = sum(rounds, func(y *round) uint64 { return y.bound(len(y.rest)) })
	kinds := kinds
	switch u.Dealt {
	case profile.DealtOtherly:
		kinds = kinds[:2] // the order of the units may be another one
	case profile.DealtInTasks:
		kinds = []Kind{LongestFirst, Stealing} // who has tasks executed has nobody do some that were fixed before
	}
	o.Dealings = dealings(rounds, kinds, 1)
	if besides(rounds) > littleBesides {
		return o
	}
	for _, k := range wider {
		if p := k * o.Parts; p <= mostThreads {
			o.Forecast = append(o.Forecast, forecast(rounds, kinds, k, p, today))
		}
	}
	return o
}

// littleBesides is the part of the work that may be done besides the units where more
// threads are foreseen: how that would be shared is not known.
const littleBesides = 0.1

func besides(rounds []round) float64 {
	rest := sum(rounds, func(y *round) (n uint64) {
		for _, r := range y.rest {
			n += r
		}
		return n
	})
	return float64(rest) / float64(max(1, rest+sum(rounds, func(y *round) uint64 { return y.work })))
}

// measure sums the units up.
func (o *Outlook) measure(rounds []round) {
	work := uint64(0)
	for i := range rounds {
		y := &rounds[i]
		o.Units += uint64(len(y.costs))
		work += y.work
		if y.largest > o.Largest {
			o.Largest, o.Share = y.largest, float64(y.largest)/float64(max(1, y.work))
		}
	}
	o.Mean = float64(work) / float64(o.Units)
	var limits []int
	for i := range rounds {
		limits = append(limits, int((rounds[i].work+rounds[i].largest-1)/max(1, rounds[i].largest)))
	}
	slices.Sort(limits)
	o.Limit = limits[len(limits)/2]
	o.curve(rounds)
}

// shown are the points of a curve over all units, at most.
const shown = 200

// curve makes a section's units one row, each place the mean over the rounds.
func (o *Outlook) curve(rounds []round) {
	longest := 0
	for i := range rounds {
		longest = max(longest, len(rounds[i].costs))
	}
	points := min(longest, shown)
	sums, ns := make([]float64, points), make([]float64, points)
	for i := range rounds {
		costs := rounds[i].costs
		for k, c := range costs {
			p := k * points / len(costs)
			sums[p], ns[p] = sums[p]+float64(c), ns[p]+1
		}
	}
	for p := range sums {
		if ns[p] > 0 {
			o.Costs = append(o.Costs, sums[p]/ns[p])
		}
	}
}

// kinds are what is tried besides dealing on demand.
var kinds = []Kind{Turns, LongestFirst, Blocks, Guided, Stealing}

// dealings are some ways, at so many times as many threads, the best first.
func dealings(rounds []round, kinds []Kind, times int) (list []Dealing) {
	try := func(k Kind, chunk int) {
		list = append(list, Dealing{k, chunk, sum(rounds, func(y *round) uint64 { return y.deal(k, chunk, times*len(y.rest)) })})
	}
	for _, k := range kinds {
		try(k, 0)
	}
	for _, c := range chunks {
		try(Demand, c)
	}
	slices.SortStableFunc(list, func(a, b Dealing) int { return cmp.Compare(a.Most, b.Most) })
	return list
}

// today is the way in which units are dealt, as far as it is one of these; its
// Kind is "" where it is none.
func today(by profile.DealtBy, rounds []round) Dealing {
	switch by {
	case profile.DealtInBlocks:
		return Dealing{Kind: Blocks}
	case profile.DealtInTurns:
		return Dealing{Kind: Turns}
	case profile.DealtOnDemand:
		return Dealing{Kind: Demand, Chunk: 1}
	}
	for _, k := range []Kind{Blocks, Turns} {
		fits := true
		for i := range rounds {
			y := &rounds[i]
			fits = fits && y.deal(k, 0, len(y.rest)) == y.most
		}
		if fits {
			return Dealing{Kind: k}
		}
	}
	return Dealing{}
}

func forecast(rounds []round, kinds []Kind, times, threads int, today Dealing) Forecast {
	alone := float64(sum(rounds, func(y *round) uint64 { return y.deal(Blocks, 0, 1) }))
	all := dealings(rounds, kinds, times)
	f := Forecast{Threads: threads, Best: alone / float64(all[0].Most), How: all[0], Dealings: all}
	f.Bound = sum(rounds, func(y *round) uint64 { return y.bound(times * len(y.rest)) })
	if today.Kind != "" {
		f.Today = alone / float64(sum(rounds, func(y *round) uint64 { return y.deal(today.Kind, today.Chunk, times*len(y.rest)) }))
	}
	limited := 0
	for i := range rounds {
		if y := &rounds[i]; y.bound(times*len(y.rest)) == y.largest+y.least {
			limited++
		}
	}
	f.Largest = 2*limited > len(rounds)
	return f
}

func sum(rounds []round, of func(*round) uint64) (n uint64) {
	for i := range rounds {
		n += of(&rounds[i])
	}
	return n
}

// round is one round's units, each by itself.
type round struct {
	costs   []uint64
	rest    []uint64
	work    uint64 // Σ costs
	largest uint64
	least   uint64 // of rest
	most    uint64 // of what the parts did
	sorted  []uint64
}

const mostCosts = 1 << 20 // of a round: units that stand for many are taken apart as far as that

func newRound(u *profile.UnitRound) round {
	y := round{rest: u.Rest}
	each := make([]uint64, len(u.Rest))
	copy(each, u.Rest)
	apart := 0
	for _, x := range u.Units {
		apart += int(x.N)
	}
	for _, x := range u.Units {
		n := uint64(x.N)
		if apart > mostCosts {
			n = 1
		}
		for range n {
			y.costs = append(y.costs, x.Cost/n)
		}
		y.work += x.Cost
		y.largest = max(y.largest, x.Cost/n)
		each[x.Part] += x.Cost
	}
	if len(each) > 0 {
		y.most, y.least = slices.Max(each), slices.Min(u.Rest)
	}
	y.sorted = slices.Clone(y.costs)
	slices.SortFunc(y.sorted, func(a, b uint64) int { return cmp.Compare(b, a) })
	return y
}

// begins is what the parts have to do besides: more of them than there were have
// as little as any.
func (y *round) begins(parts int) []uint64 {
	b := make([]uint64, parts)
	for k := range b {
		b[k] = y.least
		if k < len(y.rest) && parts > 1 {
			b[k] = y.rest[k]
		}
	}
	return b
}

// bound is what the part that does most has to do at least.
func (y *round) bound(parts int) uint64 {
	b := y.begins(parts)
	all := y.work
	for _, n := range b {
		all += n
	}
	return max(slices.Max(b), y.largest+y.least, (all+uint64(parts)-1)/uint64(parts))
}

// deal is what the part that does most has to do.
func (y *round) deal(k Kind, chunk, parts int) uint64 {
	b := y.begins(parts)
	n := len(y.costs)
	switch k {
	case Blocks:
		for p := range b {
			for _, c := range y.costs[p*n/parts : (p+1)*n/parts] {
				b[p] += c
			}
		}
	case Turns:
		for i, c := range y.costs {
			b[i%parts] += c
		}
	case Demand:
		return greedy(b, y.costs, func(int) int { return chunk })
	case Guided:
		return greedy(b, y.costs, func(left int) int { return (left + parts - 1) / parts })
	case LongestFirst:
		return greedy(b, y.sorted, func(int) int { return 1 })
	case Stealing:
		return steal(b, y.costs)
	}
	return slices.Max(b)
}

// greedy: whoever has least takes the next units, as many as take says of those
// that are left.
func greedy(b, costs []uint64, take func(left int) int) uint64 {
	q := queue(slices.Clone(b))
	heap.Init(&q)
	for len(costs) > 0 {
		n := min(take(len(costs)), len(costs))
		for _, c := range costs[:n] {
			q[0] += c
		}
		heap.Fix(&q, 0)
		costs = costs[n:]
	}
	return slices.Max(q)
}

// queue is a heap of how much each part has done.
type queue []uint64

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i] < q[j] }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(any)          {}
func (q *queue) Pop() any          { return nil }

// steal: each part begins with a block; who has done it takes the latter half of
// what another one has not begun, of whom that is most units.
func steal(b, costs []uint64) uint64 {
	n, parts := len(costs), len(b)
	type owner struct{ from, to int }
	own := make([]owner, parts)
	for p := range own {
		own[p] = owner{p * n / parts, (p + 1) * n / parts}
	}
	w := &workers{at: b}
	for p := range parts {
		w.order = append(w.order, p)
	}
	heap.Init(w)
	for left := n; left > 0; {
		p := w.order[0]
		x := &own[p]
		if x.from == x.to {
			victim := 0
			for v := range own {
				if own[v].to-own[v].from > own[victim].to-own[victim].from {
					victim = v
				}
			}
			v := &own[victim]
			half := v.from + (v.to-v.from)/2
			*x = owner{half, v.to}
			v.to = half
		}
		b[p] += costs[x.from]
		x.from++
		left--
		heap.Fix(w, 0)
	}
	return slices.Max(b)
}

// workers is a heap of parts, by how far they are.
type workers struct {
	order []int
	at    []uint64
}

func (w *workers) Len() int { return len(w.order) }
func (w *workers) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(w.at[w.order[i]], w.at[w.order[j]]), cmp.Compare(w.order[i], w.order[j])) < 0
}
func (w *workers) Swap(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] }
func (w *workers) Push(any)      {}
func (w *workers) Pop() any      { return nil }
