package attribution

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

func s(x float64) *Seconds { v := Seconds(x); return &v }

// random is a scaling study that keeps to its cores, of programs that idle, inflate
// and wait for cores.
func random(rng *rand.Rand) Input {
	in := Input{Runs: map[int][]Run{}}
	t1 := 0.1 + 10*rng.Float64()
	runs := func(p int) []Run {
		var rs []Run
		for range 2 + rng.IntN(5) {
			cpu := t1 * (1 + rng.Float64())
			idle, queue := t1*rng.Float64(), 0.2*t1*rng.Float64()
			rs = append(rs, Run{Wall: Seconds((cpu + idle + queue) / float64(p)), CPU: s(cpu), Queue: s(queue)})
		}
		return rs
	}
	for _, p := range []int{1, 2, 3, 8, 40} {
		if p == 1 || rng.IntN(3) > 0 {
			in.Runs[p] = runs(p)
		}
	}
	if rng.IntN(2) == 0 {
		in.Baseline = runs(1)
	}
	if rng.IntN(2) == 0 {
		in.Elision = runs(1)
	}
	return in
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func TestIdentities(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		in := random(rng)
		x, err := Factor(in)
		if err != nil {
			t.Fatal(err)
		}
		ts, t1 := float64(x.Baseline.Mean), float64(x.At(1).Time.Mean)
		if !x.Given && !near(ts, t1) {
			t.Fatalf("T_s = %v without a baseline, T_1 = %v", ts, t1)
		}
		for i := range x.Points {
			p := &x.Points[i]
			n, tp, ip, wp, fp := float64(p.P), float64(p.Time.Mean), float64(p.Idle.Mean), float64(p.Work.Mean), float64(p.Inflation.Mean)
			u := p.Speedup
			for name, pair := range map[string][2]float64{
				"fact 2.1":                      {n * tp, wp + ip},
				"fact 2.2":                      {fp, wp - t1},
				"fact 2.3":                      {fp, n*tp - ip - t1},
				"fact 2.4":                      {tp, (t1 + ip + fp) / n},
				"fact 2.5":                      {u.Actual.Value, n * ts / (t1 + ip + fp)},
				"wall":                          {n * float64(p.Wall.Mean), n*tp + float64(p.Queued.Mean)},
				"work is CPU time":              {wp, float64(p.CPU.Mean)},
				"maximal and T_1":               {u.Maximal.Value * t1, n * ts},
				"idle-specific and T_1 + I_P":   {u.IdleSpecific.Value * (t1 + ip), n * ts},
				"inflation-specific and W_P":    {u.InflationSpecific.Value * wp, n * ts},
				"inflation-specific, T_1 + F_P": {u.InflationSpecific.Value * (t1 + fp), n * ts},
				"actual and T_P":                {u.Actual.Value * tp, ts},
				// Reciprocals are times, which add up.
				"1/actual": {1 / u.Actual.Value, 1/u.IdleSpecific.Value + 1/u.InflationSpecific.Value - 1/u.Maximal.Value},
			} {
				if !near(pair[0], pair[1]) {
					t.Fatalf("P = %d, %s: %v and %v", p.P, name, pair[0], pair[1])
				}
			}
			if u.Linear != n || (u.Elision != nil) != (len(in.Elision) > 0) {
				t.Fatalf("P = %d: linear %v, elision %v", p.P, u.Linear, u.Elision)
			}
			for _, r := range []*Ratio{u.Maximal, u.IdleSpecific, u.InflationSpecific, u.Actual} {
				if *r.Low > r.Value+1e-9 || *r.High < r.Value-1e-9 {
					t.Fatalf("P = %d: %v outside of %v to %v", p.P, r.Value, *r.Low, *r.High)
				}
			}
		}
	}
}

// runs are n runs that only differ a little.
func runs(n int, wall, cpu, queue float64) []Run {
	var rs []Run
	for i := range n {
		d := 1 + 0.01*float64(i-n/2)
		rs = append(rs, Run{Wall: Seconds(wall * d), CPU: s(cpu * d), Queue: s(queue * d)})
	}
	return rs
}

func factor(t *testing.T, in Input) *Scaling {
	t.Helper()
	x, err := Factor(in)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func codes(ws []profile.Warning) (cs []string) {
	for _, w := range ws {
		cs = append(cs, w.Code)
	}
	return cs
}

func noted(x *Scaling) (cs []string) {
	for _, n := range x.Notes {
		cs = append(cs, n.Code)
	}
	return cs
}

// What a user has in hand: a program of 8 s, a baseline of 6 s.
func TestByHand(t *testing.T) {
	x := factor(t, Input{Baseline: runs(3, 6, 6, 0), Elision: runs(3, 7, 7, 0), Runs: map[int][]Run{1: runs(3, 8, 8, 0), 4: runs(3, 4, 10, 0)}})
	p := x.At(4)
	for name, pair := range map[string][2]float64{
		"idle": {float64(p.Idle.Mean), 6}, "work": {float64(p.Work.Mean), 10}, "inflation": {float64(p.Inflation.Mean), 2},
		"maximal": {p.Speedup.Maximal.Value, 3}, "idle-specific": {p.Speedup.IdleSpecific.Value, 24. / 14},
		"inflation-specific": {p.Speedup.InflationSpecific.Value, 2.4}, "actual": {p.Speedup.Actual.Value, 1.5}, "elision": {p.Speedup.Elision.Value, 24. / 7},
		"spread": {float64(*p.Time.SD), 0.04},
	} {
		if !near(pair[0], pair[1]) {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	if !x.Given || len(x.Warnings) != 0 {
		t.Errorf("baseline given %v, warnings %v", x.Given, x.Warnings)
	}
	if got := strings.Join(noted(x), " "); got != "idle scheduling" {
		t.Errorf("notes %s", got)
	}
	const want = "speedup 1.50 of 4: of 16 s of core time, work of the baseline 6 s (38 %), overhead of being parallel 2 s (12 %), idle 6 s (38 %), inflation 2 s (12 %)"
	if got := x.Notes[0].Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Run-queue delay is neither idle nor work.
func TestWaitingForCoresIsTakenOff(t *testing.T) {
	x := factor(t, Input{Runs: map[int][]Run{1: runs(3, 8, 8, 0), 2: runs(3, 5, 8, 1)}})
	p := x.At(2)
	if !near(float64(p.Time.Mean), 4.5) || !near(float64(p.Wall.Mean), 5) || !near(float64(p.Idle.Mean), 1) || !near(float64(p.Inflation.Mean), 0) {
		t.Errorf("time %v, idle %v, inflation %v", p.Time.Mean, p.Idle.Mean, p.Inflation.Mean)
	}
	if !p.Disturbed() || !slices.Contains(codes(x.Warnings), "disturbed") {
		t.Errorf("10 %% of the core time is no disturbance: %v", x.Warnings)
	}
	if x = factor(t, Input{Runs: map[int][]Run{1: runs(3, 8, 8, 0), 2: runs(3, 5, 8, 0.1)}}); x.At(2).Disturbed() {
		t.Errorf("1 %% is: %v", x.Warnings)
	}
}

// A program that has two threads whatever it is told, on a busy machine: what it waited for
// cores is taken off with two cores, and cannot be with one. It is no faster with two.
func TestWaitingIsTakenOffBothOrNone(t *testing.T) {
	same := runs(3, 1.28, 0.64, 1.4)
	x := factor(t, Input{Cores: 2, Runs: map[int][]Run{1: same, 2: slices.Clone(same)}})
	if a := x.At(2).Speedup.Actual; a != nil || !slices.Contains(codes(x.Warnings), "no-speedup") {
		t.Errorf("speedup %v, %v", a, x.Warnings)
	}
	if x.At(1).Speedup.Actual == nil || x.At(1).Speedup.Maximal == nil {
		t.Errorf("a time and itself: %+v", x.At(1).Speedup)
	}
	x = factor(t, Input{Cores: 2, Runs: map[int][]Run{1: runs(3, 1.28, 0.64, 1.4), 2: runs(3, 0.64, 0.64, 0.01)}})
	if a := x.At(2).Speedup.Actual; a == nil || !near(a.Value, 2*1.28/1.28/(1-0.01/1.28)) || slices.Contains(codes(x.Warnings), "no-speedup") {
		t.Errorf("on a machine of its own: %+v, %v", a, x.Warnings)
	}
}

// What falls does not rise by less than nothing.
func TestFallingIdleIsSaid(t *testing.T) {
	x := factor(t, Input{Runs: map[int][]Run{1: runs(5, 1, 1, 0), 2: runs(5, 1.2, 1, 0)}})
	if m := x.Notes[len(x.Notes)-1].Message; !strings.Contains(m, "falls from 1.00 at P = 1 to 0.83 at P = 2") {
		t.Error(m)
	}
}

func TestWhatIsNotKnownIsAbsent(t *testing.T) {
	for _, c := range []struct {
		name       string
		at2        []Run
		code       string
		idle, work bool
	}{
		{"more CPU time than cores", runs(3, 4, 16, 0), "more-cores", false, false},
		{"eight threads all the time", runs(3, 4, 8, 24), "no-baseline", true, true}, // the cores never were free
		{"eight threads half the time", runs(3, 4, 6, 12), "more-threads", false, true},
		{"a little more waited than cores were free", runs(3, 4, 7, 1.1), "disturbed", true, true},
		{"no run queue", []Run{{4, s(6), nil}, {4, s(6), nil}, {4, s(6), nil}}, "no-run-queue", true, true},
		{"no CPU time", []Run{{4, nil, nil}, {4, nil, nil}}, "few-runs", false, false},
		{"one run", runs(1, 4, 6, 0), "few-runs", true, true},
	} {
		x := factor(t, Input{Runs: map[int][]Run{1: runs(3, 8, 8, 0), 2: c.at2}})
		p := x.At(2)
		if !slices.Contains(codes(x.Warnings), c.code) {
			t.Errorf("%s: warnings %v", c.name, x.Warnings)
		}
		if (p.Idle != nil) != c.idle || (p.Speedup.IdleSpecific != nil) != c.idle || (p.Work != nil) != c.work || (p.Inflation != nil) != c.work || (p.Speedup.InflationSpecific != nil) != c.work {
			t.Errorf("%s: idle %v, work %v, inflation %v, speedups %v", c.name, p.Idle, p.Work, p.Inflation, p.Speedup)
		}
		if p.Speedup.Actual == nil || p.Speedup.Maximal == nil || (p.Runs == 1) != (p.Time.SD == nil) || (p.Runs == 1) != (p.Speedup.Actual.Low == nil) {
			t.Errorf("%s: %+v", c.name, p)
		}
		if (Main(x, p) == "speedup") != (!c.idle || !c.work) {
			t.Errorf("%s: main is %s", c.name, Main(x, p))
		}
	}
	x := factor(t, Input{Runs: map[int][]Run{1: runs(3, 8, 6, 9), 2: runs(3, 4, 6, 0)}}) // T_1 has waiting in it
	if p := x.At(2); p.Idle == nil || p.Work == nil || p.Inflation != nil || p.Speedup.InflationSpecific != nil || p.Speedup.IdleSpecific != nil {
		t.Errorf("compared with a T_1 that is not known: %+v", p)
	}
	for _, in := range []Input{{}, {Runs: map[int][]Run{2: runs(1, 1, 1, 0)}}, {Runs: map[int][]Run{1: runs(1, 1, 1, 0), 4: nil}}} {
		if _, err := Factor(in); err == nil {
			t.Errorf("%v: no error", in)
		}
	}
}

// The forms of section 2.5, from the numbers that make them.
func TestCurvature(t *testing.T) {
	for _, c := range []struct {
		name string
		runs map[int][]Run
		want string
	}{
		{"clean", map[int][]Run{1: runs(5, 8, 8, 0), 2: runs(5, 4, 8, 0), 4: runs(5, 2, 8, 0), 8: runs(5, 1, 8, 0)}, "scales"},
		{"Amdahl, half of it serial", map[int][]Run{1: runs(5, 8, 8, 0), 2: runs(5, 6, 8, 0), 4: runs(5, 5, 8, 0), 8: runs(5, 4.5, 8, 0)}, "idle idle-flattens"},
		{"memory full at 4", map[int][]Run{1: runs(5, 8, 8, 0), 2: runs(5, 4, 8, 0), 4: runs(5, 2.2, 8.8, 0), 8: runs(5, 2.1, 16.8, 0)}, "inflation inflation-flattens"},
		{"false sharing", map[int][]Run{1: runs(5, 8, 8, 0), 2: runs(5, 12, 24, 0)}, "inflation inflation-falls"},
		{"asleep on one core", map[int][]Run{1: runs(5, 8, 4, 0), 2: runs(5, 6, 4, 0)}, "idle sleeps"},
		{"others beside it", map[int][]Run{1: runs(5, 8, 6, 1), 2: runs(5, 6, 6, 1)}, "idle"},
		{"only one core", map[int][]Run{1: runs(5, 8, 8, 0)}, ""},
		{"not known", map[int][]Run{1: runs(5, 8, 8, 0), 2: runs(5, 4, 16, 0), 4: runs(5, 4, 17, 0)}, "speedup"},
	} {
		x := factor(t, Input{Runs: c.runs})
		if got := strings.Join(noted(x), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What happens with more threads than cores says nothing about more cores.
func TestNotesAreAboutCoresThatThereAre(t *testing.T) {
	in := Input{Cores: 2, Runs: map[int][]Run{1: runs(5, 8, 8, 0), 2: runs(5, 4, 8, 0), 4: runs(5, 4, 8, 0), 8: runs(5, 4, 8, 0)}}
	x := factor(t, in)
	if got := strings.Join(noted(x), " "); got != "scales" || x.Last().P != 2 {
		t.Errorf("on %d of 2 cores: %s", x.Last().P, got)
	}
	in.Runs[4] = runs(5, 4, 8, 8)
	p := factor(t, in).At(4) // its threads waited for each other
	if p.Idle != nil || p.Queued != nil || p.Speedup.IdleSpecific != nil || p.Disturbed() || !near(float64(p.Time.Mean), 4) || !near(float64(p.Work.Mean), 8) {
		t.Errorf("4 threads on 2 cores: %+v", p)
	}
	if got := codes(factor(t, in).Warnings); len(got) != 1 {
		t.Errorf("doubts about cores that are not there: %v", got)
	}
	in.Runs[4] = runs(5, 4, 8, 0)
	in.Cores = 0
	if x := factor(t, in); x.Last().P != 8 || len(x.Notes) < 2 {
		t.Errorf("on %d cores: %v", x.Last().P, x.Notes)
	}
}

func TestPointsAreNamed(t *testing.T) {
	x := factor(t, Input{Runs: map[int][]Run{1: runs(1, 8, 8, 0), 2: runs(1, 8, 8, 0), 4: runs(1, 8, 8, 0)}})
	for want, most := range map[string]int{"": 0, "1 core": 1, "1 and 2 cores": 2, "1, 2 and 4 cores": 4} {
		if got := where(x, func(p *Point) bool { return p.P <= most }); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := where(x, func(p *Point) bool { return p.P == 2 }); got != "2 cores" {
		t.Errorf("%q", got)
	}
	if x.At(3) != nil {
		t.Error("there is a point at 3")
	}
}

// A program can be too short for its CPU time to be more than zero.
func TestNoTimeAtAll(t *testing.T) {
	p := factor(t, Input{Runs: map[int][]Run{1: {{1, s(0), s(0)}, {1, s(.5), s(0)}}, 2: {{1, s(0), s(0)}, {1, s(0), s(0)}}}}).At(2)
	if p.Speedup.InflationSpecific != nil || p.Speedup.Actual == nil {
		t.Errorf("%+v", p.Speedup)
	}
	p = factor(t, Input{Runs: map[int][]Run{1: {{1, s(0), s(0)}, {1, s(.5), s(0)}}}}).At(1)
	if r := p.Speedup.InflationSpecific; r == nil || r.Low != nil || r.High != nil {
		t.Errorf("%+v", r)
	}
}

func TestNegativeNumbers(t *testing.T) {
	for want, x := range map[string]Seconds{"−0.5 s": -0.5, "0 s": 0, "1.23e+04 s": 12345} {
		if got := amount(x); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := signed("-0.0"); got != "0.0" {
		t.Error(got)
	}
}
