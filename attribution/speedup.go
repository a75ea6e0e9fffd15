package attribution

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const (
	draws      = 1000 // of a bootstrap
	confidence = 0.99
	seed       = 20140223 // any: the same runs give the same intervals
)

// factoring is what all points are computed against.
type factoring struct {
	ts, t1, elision []part
	shared          bool // the baseline's runs are the program's on one core
	whole           bool // T_1 may have waiting for cores in it, so nothing can be compared with it but times
}

// point computes the program on P cores.
func (f *factoring) point(p int, parts []part) Point {
	t1 := estimate(f.t1, time).Mean
	for i := range parts {
		if w := parts[i].work(); w != nil && !f.whole {
			x := *w - t1 // F_P(R) = W_P(R) − E[T_1] (2.7)
			parts[i].inflated = &x
		}
	}
	x := measured(p, parts)
	x.Inflation = estimate(parts, func(x part) *Seconds { return x.inflated })
	x.Speedup = f.speedups(p, parts)
	return x
}

// measured is what is known of runs on P cores without comparing them with others.
func measured(p int, parts []part) Point {
	return Point{
		P: p, Runs: len(parts),
		Wall:    *estimate(parts, func(x part) *Seconds { return &x.wall }),
		Time:    *estimate(parts, time),
		CPU:     estimate(parts, func(x part) *Seconds { return x.cpu }),
		Queue:   estimate(parts, func(x part) *Seconds { return x.queue }),
		Queued:  estimate(parts, func(x part) *Seconds { return x.queued }),
		Idle:    estimate(parts, func(x part) *Seconds { return x.idle }),
		Work:    estimate(parts, part.work),
		Speedup: Speedups{Linear: float64(p)},
	}
}

// means are those that the speedups at P are computed from.
type means struct{ ts, t1, elision, tp, ip, wp Seconds }

// speedups are those of section 2.3; the order of the known ones is that of the paper's
// figure 2, from the top to the bottom.
func (f *factoring) speedups(p int, parts []part) Speedups {
	n := Seconds(p)
	known := means{
		ts: value(estimate(f.ts, time)), t1: value(estimate(f.t1, time)), elision: value(estimate(f.elision, time)),
		tp: value(estimate(parts, time)), ip: value(estimate(parts, func(x part) *Seconds { return x.idle })), wp: value(estimate(parts, part.work)),
	}
	all := f.draw(p, parts)
	ratio := func(is bool, of func(means) Seconds) *Ratio {
		if v := float64(of(known)); is && v > 0 && !math.IsInf(v, 0) {
			r := &Ratio{Value: v}
			r.interval(all, of)
			return r
		}
		return nil
	}
	idle := !f.whole && estimate(parts, func(x part) *Seconds { return x.idle }) != nil
	work := !f.whole && estimate(parts, part.work) != nil
	return Speedups{
		Linear:            float64(p),
		Elision:           ratio(len(f.elision) > 0 && !mixed(f.ts, f.elision), func(m means) Seconds { return n * m.ts / m.elision }),
		Maximal:           ratio(!mixed(f.ts, f.t1), func(m means) Seconds { return n * m.ts / m.t1 }),
		IdleSpecific:      ratio(idle, func(m means) Seconds { return n * m.ts / (m.t1 + m.ip) }),
		InflationSpecific: ratio(work, func(m means) Seconds { return n * m.ts / m.wp }), // fact 2.3: T_1 + F_P = P·T_P − I_P
		Actual:            ratio(!mixed(f.ts, parts), func(m means) Seconds { return m.ts / m.tp }),
	}
}

// mixed reports whether times cannot be compared, because waiting for cores is in those of
// the one, as far as it did, and much was taken off the other's: on a busy machine the ratio
// would be of what other programs did. The runs took turns, so both have waited alike.
func mixed(a, b []part) bool { return whole(a) && disturbs(b) || whole(b) && disturbs(a) }

// whole reports whether it is not known, of one run at least, how much it waited for cores
// that were not free.
func whole(parts []part) bool {
	return slices.ContainsFunc(parts, func(x part) bool { return x.cpu != nil && x.queued == nil })
}

// disturbs reports whether more was taken off than moves the curves little.
func disturbs(parts []part) bool {
	e := estimate(parts, func(x part) *Seconds { q := known(x.queued) / Seconds(x.p); return &q })
	return e != nil && e.Mean > disturbed*estimate(parts, func(x part) *Seconds { return &x.wall }).Mean
}

func value(e *Estimate) Seconds {
	if e == nil {
		return 0
	}
	return e.Mean
}

// draw draws the runs of each program anew, with replacement; nil where one of
// them ran only once.
func (f *factoring) draw(p int, parts []part) []means {
	if min(len(f.t1), len(f.ts), len(parts)) < 2 || len(f.elision) == 1 {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, uint64(p)))
	again := func(from []part) (sum Seconds) {
		for range from {
			sum += from[rng.IntN(len(from))].time
		}
		return sum / Seconds(max(1, len(from)))
	}
	all := make([]means, draws)
	for i := range all {
		m, n := &all[i], Seconds(len(parts))
		for range parts { // of one run its time, idle time and work belong together
			x := parts[rng.IntN(len(parts))]
			m.tp, m.ip, m.wp = m.tp+x.time/n, m.ip+known(x.idle)/n, m.wp+known(x.work())/n
		}
		if m.t1 = m.tp; p != 1 { // otherwise these runs are T_1's
			m.t1 = again(f.t1)
		}
		if m.ts = m.t1; !f.shared {
			m.ts = again(f.ts)
		}
		m.elision = again(f.elision)
	}
	return all
}

func known(x *Seconds) Seconds {
	if x == nil {
		return 0
	}
	return *x
}

// interval is the middle 99 % of what the drawn runs give.
func (r *Ratio) interval(all []means, of func(means) Seconds) {
	if len(all) == 0 {
		return
	}
	xs := make([]float64, len(all))
	for i, m := range all {
		if xs[i] = float64(of(m)); math.IsInf(xs[i], 0) || math.IsNaN(xs[i]) { // by a time of zero
			return
		}
	}
	low, high := middle(xs)
	r.Low, r.High = &low, &high
}

// middle is the interval that holds the middle 99 % of what was drawn.
func middle(xs []float64) (low, high float64) {
	slices.Sort(xs)
	const tail = (1 - confidence) / 2
	return stat.Quantile(tail, stat.Empirical, xs, nil), stat.Quantile(1-tail, stat.Empirical, xs, nil)
}
