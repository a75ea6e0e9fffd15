package attribution

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What sections take obeys the same identities as what programs take, whether or not
// they were met on one core; what is made by comparing is then not known.
func TestSections(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		in := random(rng)
		in.Baseline, in.Elision, in.Cores = nil, nil, 40
		whole := Section(in)
		delete(in.Runs, 1)
		rest := Section(in)
		if len(whole) != len(rest)+1 {
			t.Fatalf("%d points, %d without that on one core", len(whole), len(rest))
		}
		for i := range rest {
			a, b := &whole[i+1], &rest[i]
			if b.Inflation != nil || b.Speedup.Actual != nil || b.Speedup.Linear != float64(b.P) {
				t.Errorf("compared with nothing: %+v", b)
			}
			if a.Time.Mean != b.Time.Mean || (a.Idle == nil) != (b.Idle == nil) {
				t.Errorf("%+v is %+v without a run on one core", a, b)
			}
			if a.Idle != nil && (!near(float64(a.P)*float64(a.Time.Mean), float64(a.Work.Mean+a.Idle.Mean)) || a.Idle.Mean != b.Idle.Mean) {
				t.Errorf("P·T_P is not W_P + I_P: %+v", a)
			}
		}
	}
	nothing := []Run{{CPU: s(0), Queue: s(0)}, {CPU: s(0), Queue: s(0)}}
	for _, p := range Section(Input{Cores: 2, Runs: map[int][]Run{1: runsOf(1, 1), 2: nothing}}) {
		if (p.Speedup.Actual != nil) != (p.P == 1) {
			t.Errorf("in no time: %+v", p)
		}
	}
	Section(Input{Cores: 2, Runs: map[int][]Run{1: nothing, 2: nothing}})
	if got := Section(Input{Runs: map[int][]Run{2: nil}}); got != nil {
		t.Errorf("of no runs: %+v", got)
	}
}

// Idle time is what the slowest thread waited, what the others had less to do, and cores
// without a thread, exactly.
func TestIdleTimeOfSections(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		p, threads := 1+rng.IntN(8), 1+rng.IntN(8)
		s := Slowest{Threads: threads}
		for range threads {
			work, own := Seconds(rng.Float64()), Seconds(rng.Float64())
			s.Work, s.Own, s.Needs = s.Work+work, s.Own+own, max(s.Needs, work+own)
		}
		time := s.Needs + Seconds(rng.Float64())
		i, ok := s.Divide(p, time)
		if ok != (threads <= p) {
			t.Fatalf("%d threads on %d cores: %v", threads, p, ok)
		}
		if !ok {
			continue
		}
		if sum, idle := float64(i.Sync+i.Imbalance+i.None+i.Own), float64(Seconds(p)*time-s.Work); math.Abs(sum-idle) > 1e-9 {
			t.Errorf("%+v is %v, want %v", i, sum, idle)
		}
		if min(i.Sync, i.Imbalance, i.None, i.Own) < -1e-9 {
			t.Errorf("below nothing: %+v", i)
		}
	}
	if _, ok := (Slowest{}).Divide(2, 1); ok {
		t.Error("without a thread")
	}
}
