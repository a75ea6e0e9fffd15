package lime

import (
	"math/rand/v2"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// chance is a number in [0, 1) of some others, always the same.
func chance(of ...int) float64 {
	seed := uint64(len(of))
	for _, x := range of {
		seed = rand.New(rand.NewPCG(seed, uint64(x))).Uint64()
	}
	return float64(seed>>11) / (1 << 53)
}

// ways is a program of some threads that calls one helper behind several ifs, both ways
// of each. What the helper has to do is in the data, which nobody knows to go with an if,
// or else the first if sets it.
type ways struct {
	rng     *rand.Rand
	seed    int
	byIf    bool
	threads int
	rounds  int
	items   int
	m       *machine
	trips   int
	guilty  *when
	loop    *repeat
}

func newWays(seed int, byIf bool) *ways {
	w := &ways{rng: rand.New(rand.NewPCG(uint64(seed), 5)), seed: seed, byIf: byIf, m: newMachine()}
	w.threads, w.rounds, w.items = 2+w.rng.IntN(3), 1+3*w.rng.IntN(2), 20+20*w.rng.IntN(2)
	if byIf {
		w.threads, w.rounds = 4+w.rng.IntN(5), 3
	}
	return w
}

// heavy is the thread that has much to do: always the same, or in each round another one.
func (x *ways) heavy() func(*walker) bool {
	first, moves := x.rng.IntN(x.threads), x.rng.IntN(2)
	return func(w *walker) bool { return w.id == (first+moves*w.m.round)%w.n }
}

// condition has nothing to do with what the helper does, but the heavy thread may
// go that way more often, by chance or always.
func (x *ways) condition(number int, heavy func(*walker) bool) func(*walker) bool {
	kind, often := x.rng.IntN(4), x.rng.Float64()
	return func(w *walker) bool {
		switch kind {
		case 0:
			return chance(x.seed, w.id, w.iter, w.m.round, number) < often*chance(x.seed, w.id, number)
		case 1:
			return heavy(w) && w.iter%4 == 0
		case 2:
			return (w.id+w.iter)%2 == 0
		}
		return w.iter < x.items/10 || heavy(w) && w.iter < x.items/2
	}
}

func (x *ways) run() *profile.Profile {
	heavy, kind, often := x.heavy(), x.rng.IntN(3), make([]float64, x.threads)
	for t := range often {
		often[t] = x.rng.Float64()
	}
	x.loop = &repeat{instructions: 5, trips: func(w *walker) int {
		u := chance(x.seed, w.id, w.iter, w.m.round)
		switch {
		case x.byIf:
			return x.trips
		case heavy(w) && (kind == 0 || kind == 1 && u < 0.5 || kind == 2 && w.iter < x.items/2):
			return 80
		case u < 0.05:
			return 9
		}
		return 4
	}}
	helper := x.m.function("helper", x.loop)
	var body []stmt
	for k := range 1 + x.rng.IntN(4) {
		much, little := 3+x.rng.IntN(4), 3+x.rng.IntN(4)
		d := &when{cond: x.condition(k, heavy)}
		if k == 0 && x.byIf {
			much = 60
			d.cond = func(w *walker) bool { return chance(x.seed, w.id, w.iter, w.m.round) < often[w.id] }
		}
		if k == 0 {
			x.guilty = d
		}
		d.then, d.otherwise = []stmt{before(func() { x.trips = much })}, []stmt{before(func() { x.trips = little })}
		body = append(body, d, &call{f: helper})
	}
	mains := all(x.m.function("main", &repeat{trips: fixed(x.items), instructions: 2, body: body}), x.threads)
	x.m.start(mains)
	for x.m.round = range x.rounds {
		x.m.instance(mains)
	}
	return &x.m.p
}

// Whose data make a helper's loop long is not said to be an if that calls it, and be it
// that the heavy thread alone goes that way, or most often.
func TestDataIsNoDecision(t *testing.T) {
	for seed := range 200 {
		x := newWays(seed, false)
		res := analyse(t, x.run(), Options{})
		if len(res.Causes) == 0 || res.Causes[0].Leader != Loop || res.Causes[0].Addr != x.m.last(x.loop.head) {
			t.Errorf("seed %d, %d threads, %d rounds: %+v; want the helper's loop", seed, x.threads, x.rounds, res.Causes)
		}
	}
}

// An if that sets how much the helper has to do is named, whatever other ifs there are;
// but for a few, where the heavy thread alone goes some other way.
func TestDecisionIsNoData(t *testing.T) {
	var missed []int
	for seed := range 100 {
		x := newWays(seed, true)
		res := analyse(t, x.run(), Options{})
		if len(res.Causes) == 0 || res.Causes[0].Leader != Branch || res.Causes[0].Addr != x.m.last(x.guilty.head) {
			missed = append(missed, seed)
		}
	}
	if len(missed) > 3 {
		t.Errorf("seeds %v: not the first if", missed)
	}
}
