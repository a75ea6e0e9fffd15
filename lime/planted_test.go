package lime

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// planted programs have one known first cause. build returns the profile for
// n threads and where the cause is.
type plantedProgram struct {
	name  string
	least int // threads below which it cannot be told
	build func(n int) (*profile.Profile, profile.Addr, LeaderKind)
}

// skew gives each thread another amount of work, in no order.
func skew(w *walker) int { return (w.id*7 + 3) % (w.n + 1) }

func plantedPrograms() []plantedProgram {
	one := func(f func(m *machine) ([]stmt, func() (profile.Addr, LeaderKind))) func(int) (*profile.Profile, profile.Addr, LeaderKind) {
		return func(n int) (*profile.Profile, profile.Addr, LeaderKind) {
			m := newMachine()
			body, where := f(m)
			p := m.run(all(m.function("main", body...), n)...)
			at, kind := where()
			return p, at, kind
		}
	}
	return []plantedProgram{
		{"ownership", 2, one(func(m *machine) ([]stmt, func() (profile.Addr, LeaderKind)) {
			own := &when{cond: func(w *walker) bool { return w.iter*w.iter%(w.n+3)%w.n == w.id },
				then: []stmt{&repeat{trips: fixed(20), instructions: 9}}}
			return []stmt{&repeat{trips: fixed(225), instructions: 2, body: []stmt{own}}},
				func() (profile.Addr, LeaderKind) { return m.last(own.head), Branch }
		})},
		{"root only", 2, one(func(m *machine) ([]stmt, func() (profile.Addr, LeaderKind)) {
			root := &when{cond: func(w *walker) bool { return w.id == 0 }, then: []stmt{&repeat{trips: fixed(40), instructions: 30}}}
			return []stmt{&work{instructions: 300}, root, &work{instructions: 20}},
				func() (profile.Addr, LeaderKind) { return m.last(root.head), Branch }
		})},
		{"trips", 2, one(func(m *machine) ([]stmt, func() (profile.Addr, LeaderKind)) {
			l := &repeat{trips: func(w *walker) int { return 100 + 37*skew(w) }, instructions: 2, body: []stmt{&work{instructions: 12}}}
			return append([]stmt{l}, decoys()...), func() (profile.Addr, LeaderKind) { return m.last(l.latch), Loop }
		})},
		{"one block", 2, one(func(m *machine) ([]stmt, func() (profile.Addr, LeaderKind)) {
			l := &repeat{trips: func(w *walker) int { return 100 + 37*skew(w) }, instructions: 7}
			return append(decoys(), l), func() (profile.Addr, LeaderKind) { return m.last(l.head), Loop }
		})},
		{"recursion", 2, func(n int) (*profile.Profile, profile.Addr, LeaderKind) {
			m := newMachine()
			f := m.function("tree")
			depth := 0
			guard := &when{cond: func(w *walker) bool { return depth > 0 }}
			guard.then = []stmt{&call{f: f}, &call{f: f}}
			m.p.Graph.Blocks, m.p.Graph.Edges, m.p.Events = nil, nil, nil
			f.define(m, before(func() { depth-- }), guard, before(func() { depth++ }))
			main := m.function("main", beforeOf(func(w *walker) { depth = 4 + skew(w)%5 }), &call{f: f})
			return m.run(all(main, n)...), m.last(guard.head), Recursion
		}},
		{"a or b", 4, one(func(m *machine) ([]stmt, func() (profile.Addr, LeaderKind)) {
			// What the first test lets in grows with the thread's number and
			// falls again; the second makes up for it: only the sum is the cause.
			either := &when{
				cond: func(w *walker) bool { return w.iter < 40*(w.id%2) },
				or:   func(w *walker) bool { return w.iter >= 200-40*(1-w.id%2)-10*skew(w) },
				then: []stmt{&work{instructions: 40}}}
			return []stmt{&repeat{trips: fixed(600), instructions: 2, body: []stmt{either}}},
				func() (profile.Addr, LeaderKind) { return m.last(either.head), Branch }
		})},
		{"two causes", 2, one(func(m *machine) ([]stmt, func() (profile.Addr, LeaderKind)) {
			big := &when{cond: func(w *walker) bool { return w.iter < 20*skew(w) }, then: []stmt{&work{instructions: 90}}}
			small := &when{cond: func(w *walker) bool { return w.iter < 10*w.n*(w.id%2) }, then: []stmt{&work{instructions: 40}}}
			return []stmt{&repeat{trips: fixed(800), instructions: 1, body: []stmt{big}}, &repeat{trips: fixed(800), instructions: 1, body: []stmt{small}}},
				func() (profile.Addr, LeaderKind) { return m.last(big.head), Branch }
		})},
		{"by pointer", 2, func(n int) (*profile.Profile, profile.Addr, LeaderKind) {
			m := newMachine()
			light := m.function("light", &work{instructions: 5})
			heavy := m.function("heavy", &repeat{trips: fixed(30), instructions: 9})
			c := &call{targets: []*function{light, heavy}, through: func(w *walker) *function {
				if w.iter < 10*skew(w) {
					return heavy
				}
				return light
			}}
			main := m.function("main", &repeat{trips: fixed(400), instructions: 2, body: []stmt{c}})
			p := m.run(all(main, n)...)
			return p, m.last(c.block), Branch
		}},
		{"helper", 2, func(n int) (*profile.Profile, profile.Addr, LeaderKind) {
			// One helper, called with much to do before and with little in the
			// decision that is to blame.
			m := newMachine()
			trips := 0
			step := m.function("step", &repeat{trips: func(*walker) int { return trips }, instructions: 5})
			guilty := &when{cond: func(w *walker) bool { return w.iter < 10*skew(w) },
				then: []stmt{before(func() { trips = 10 }), &call{f: step}}}
			main := m.function("main", before(func() { trips = 5000 }), &call{f: step},
				&repeat{trips: fixed(400), instructions: 1, body: []stmt{guilty}})
			return m.run(all(main, n)...), m.last(guilty.head), Branch
		}},
		{"one call for both ways", 4, func(n int) (*profile.Profile, profile.Addr, LeaderKind) {
			// Each way sets how much the helper has to do, which is called then.
			m := newMachine()
			trips := 0
			step := m.function("step", &repeat{trips: func(*walker) int { return trips }, instructions: 5})
			guilty := &when{cond: func(w *walker) bool { return w.iter < 10*skew(w) },
				then: []stmt{before(func() { trips = 60 })}, otherwise: []stmt{before(func() { trips = 3 })}}
			main := m.function("main", before(func() { trips = 20 }), &call{f: step}, &repeat{trips: fixed(400), instructions: 1, body: []stmt{guilty, &call{f: step}}})
			return m.run(all(main, n)...), m.last(guilty.head), Branch
		}},
		{"one loop for both ways", 4, one(func(m *machine) ([]stmt, func() (profile.Addr, LeaderKind)) {
			trips := 0
			guilty := &when{cond: func(w *walker) bool { return w.iter < 10*skew(w) },
				then: []stmt{before(func() { trips = 60 })}, otherwise: []stmt{before(func() { trips = 3 })}}
			return []stmt{&repeat{trips: fixed(400), instructions: 1, body: []stmt{guilty, &repeat{trips: func(*walker) int { return trips }, instructions: 5}}}},
				func() (profile.Addr, LeaderKind) { return m.last(guilty.head), Branch }
		})},
		{"helper of both ways", 4, func(n int) (*profile.Profile, profile.Addr, LeaderKind) {
			// Called as often by everybody: what differs is from where.
			m := newMachine()
			trips := 0
			step := m.function("step", &repeat{trips: func(*walker) int { return trips }, instructions: 5})
			guilty := &when{cond: func(w *walker) bool { return w.iter < 10*skew(w) },
				then: []stmt{before(func() { trips = 60 }), &call{f: step}}, otherwise: []stmt{before(func() { trips = 3 }), &call{f: step}}}
			main := m.function("main", before(func() { trips = 20 }), &call{f: step}, &repeat{trips: fixed(400), instructions: 1, body: []stmt{guilty}})
			return m.run(all(main, n)...), m.last(guilty.head), Branch
		}},
		{"start", 2, func(n int) (*profile.Profile, profile.Addr, LeaderKind) {
			m := newMachine()
			slow := m.function("slow", &repeat{trips: fixed(500), instructions: 9})
			fast := m.function("fast", &repeat{trips: fixed(100), instructions: 8})
			mains := all(fast, n)
			mains[n-1] = slow
			return m.run(mains...), m.p.Graph.Blocks[slow.entry].Start, StartAt
		}},
	}
}

// decoys differ between threads but cost next to nothing.
func decoys() []stmt {
	return []stmt{
		&repeat{trips: func(w *walker) int { return 1 + w.id*3%w.n }, instructions: 1},
		&when{cond: func(w *walker) bool { return w.id%2 == 1 }, then: []stmt{&work{instructions: 1}}},
		&when{cond: func(w *walker) bool { return skew(w) > 1 }, then: []stmt{&work{instructions: 2}}},
	}
}

// aside does something to the program's state and costs nothing.
type aside struct{ do func(*walker) }

func (aside) emit(*machine)          {}
func (s aside) run(w *walker)        { s.do(w) }
func before(do func()) stmt          { return aside{func(*walker) { do() }} }
func beforeOf(do func(*walker)) stmt { return aside{do} }

func TestPlantedCauseIsFirst(t *testing.T) {
	for _, c := range plantedPrograms() {
		for _, n := range []int{2, 3, 4, 8, 16, 32} {
			if n < c.least {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", c.name, n), func(t *testing.T) {
				p, at, kind := c.build(n)
				res := analyse(t, p, Options{})
				if len(res.Causes) == 0 {
					t.Fatalf("no cause; imbalance %.3f, warnings %v", res.Imbalance, res.Warnings)
				}
				first := res.Causes[0]
				if first.Addr != at || first.Leader != kind {
					t.Errorf("first cause is %s at %#x (share %.3f), want %s at %#x", first.Leader, uint64(first.Addr), first.Share, kind, uint64(at))
				}
				if first.Share < 0.6 || first.Share > 1 {
					t.Errorf("share %.3f", first.Share)
				}
				if res.R2 < 0.95 || res.R2 > 1 {
					t.Errorf("R² %.3f", res.R2)
				}
				for _, c := range res.Causes {
					if !(c.Gain >= 0 && c.Gain <= 1) || c.Share < 0 || c.Share > 1 || len(c.Counts) != n {
						t.Errorf("cause out of range: %+v", c)
					}
				}
				if !(res.JointGain >= 0 && res.JointGain <= 1) {
					t.Errorf("joint gain %v", res.JointGain)
				}
			})
		}
	}
}

func TestTwoCausesAreBothListed(t *testing.T) {
	for _, c := range plantedPrograms() {
		if c.name != "two causes" {
			continue
		}
		p, _, _ := c.build(16)
		res := analyse(t, p, Options{})
		if len(res.Causes) != 2 || math.Abs(res.Causes[0].Share+res.Causes[1].Share-1) > 0.02 {
			t.Errorf("got %+v", res.Causes)
		}
	}
}

// Two loops that make up for each other in part: neither explains anything
// alone.
func TestComplementaryCauses(t *testing.T) {
	for _, n := range []int{4, 8, 16, 32} {
		m := newMachine()
		a := &repeat{trips: func(w *walker) int { return 100 + 20*w.id }, instructions: 10}
		b := &repeat{trips: func(w *walker) int { return 100 + 20*(w.n-w.id) + 20*(w.id*w.id%5) }, instructions: 10}
		res := analyse(t, m.run(all(m.function("main", a, b), n)...), Options{})
		if len(res.Causes) == 0 || res.R2 < 0.99 {
			t.Errorf("%d threads: R² %v, causes %+v", n, res.R2, res.Causes)
		}
		for _, c := range res.Causes {
			if c.Addr != m.last(a.head) && c.Addr != m.last(b.head) {
				t.Errorf("%d threads: cause at %#x", n, uint64(c.Addr))
			}
		}
	}
}

func TestBalanced(t *testing.T) {
	for _, n := range []int{1, 2, 8, 32} {
		m := newMachine()
		body := append(decoys(), &repeat{trips: fixed(5000), instructions: 20})
		res := analyse(t, m.run(all(m.function("main", body...), n)...), Options{})
		if !res.Balanced || len(res.Causes) > 0 || res.Imbalance >= 0.01 || !math.IsNaN(res.R2) {
			t.Errorf("%d threads: %+v", n, res)
		}
	}
}

// same compares results but for rounding.
func same(t *testing.T, what string, a, b *Result) {
	t.Helper()
	if len(a.Causes) != len(b.Causes) || math.Abs(a.Imbalance-b.Imbalance) > 1e-9 || math.Abs(a.R2-b.R2) > 1e-9 {
		t.Fatalf("%s: %+v\n%+v", what, a, b)
	}
	for i := range a.Causes {
		x, y := a.Causes[i], b.Causes[i]
		if x.Addr != y.Addr || x.To != y.To || x.Leader != y.Leader || math.Abs(x.Share-y.Share) > 1e-9 ||
			math.Abs(x.Gain-y.Gain) > 1e-9 || math.Abs(x.LeaderScore-y.LeaderScore) > 1e-9 {
			t.Errorf("%s, cause %d: %+v\n%+v", what, i, x, y)
		}
	}
}

// LIME does not care who a thread is, nor in what unit something is counted.
func TestPermutationAndScale(t *testing.T) {
	for _, c := range plantedPrograms() {
		t.Run(c.name, func(t *testing.T) {
			p, _, _ := c.build(8)
			want := analyse(t, p, Options{})

			if again := analyse(t, p, Options{}); !reflect.DeepEqual(noNaN(want), noNaN(again)) {
				t.Errorf("two runs differ:\n%+v\n%+v", want, again)
			}

			q := *p
			q.Sections = []profile.Section{p.Sections[0]}
			parts := slices.Clone(p.Sections[0].Instances[0].Parts)
			slices.Reverse(parts)
			parts[0], parts[3] = parts[3], parts[0]
			for i := range parts {
				parts[i].Thread = profile.ThreadID(i + 1)
			}
			q.Sections[0].Instances = []profile.Instance{{Parts: parts, Folded: 1}}
			same(t, "permuted", want, analyse(t, &q, Options{}))

			q.Graph.Blocks = slices.Clone(p.Graph.Blocks)
			for i := range q.Graph.Blocks {
				q.Graph.Blocks[i].Instructions *= 3
			}
			same(t, "three instructions for one", want, analyse(t, &q, Options{}))

			q = *p
			parts = slices.Clone(p.Sections[0].Instances[0].Parts)
			for i := range parts {
				n := slices.Clone(parts[i].Counts.N)
				for k := range n {
					n[k] *= 1000
				}
				parts[i].Counts.N = n
			}
			q.Sections = []profile.Section{{Kind: profile.Barrier, Site: 1, Instances: []profile.Instance{{Parts: parts, Folded: 1}}}}
			same(t, "a thousand times", want, analyse(t, &q, Options{}))
		})
	}
}

// noNaN makes a result comparable.
func noNaN(r *Result) Result {
	c := *r
	c.Causes = slices.Clone(r.Causes)
	c.ranked = ranking{} // what the causes are made of
	fix := func(v *float64) {
		if math.IsNaN(*v) {
			*v = -99
		}
	}
	fix(&c.R2)
	fix(&c.JointGain)
	for i := range c.Causes {
		x := &c.Causes[i]
		for _, v := range []*float64{&x.P, &x.LeaderScore, &x.Gain, &x.WholeUnits, &x.Score, &x.Beta} {
			fix(v)
		}
	}
	return c
}
