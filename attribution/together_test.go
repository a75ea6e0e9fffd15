package attribution

import "testing"

func runsOf(wall, cpu float64) (rs []Run) {
	for _, d := range []float64{.99, 1, 1.01} {
		rs = append(rs, Run{Wall: Seconds(wall * d), CPU: s(cpu * d), Queue: s(0)})
	}
	return rs
}

// Inflation is what more threads have more to do and what running at the same time costs,
// exactly, however fast the machine was when they took turns.
func TestTogether(t *testing.T) {
	in := Input{Cores: 2, Runs: map[int][]Run{1: runsOf(1, 1), 2: runsOf(1, 1.8)}}
	x, err := Factor(in)
	if err != nil {
		t.Fatal(err)
	}
	d := in.Divide(2, runsOf(1.5, 1.5), runsOf(1.2, 1.2))
	if d == nil || !near(float64(d.Threads), .3) || !near(float64(d.Threads+d.Beside), float64(x.At(2).Inflation.Mean)) || d.Low <= 0 || d.Low > d.Beside || d.High < d.Beside || d.P != 2 {
		t.Errorf("%+v", d)
	}
	// No work is more at the same time, but certain is only that it is not much.
	if d := in.Divide(2, runsOf(1.8, 1.8), runsOf(1, 1)); d == nil || d.Low >= 0 || d.High <= 0 {
		t.Errorf("%+v", d)
	}
	// Threads that spin work most when they take turns: that says nothing.
	if d := in.Divide(2, runsOf(9, 9), runsOf(1, 1)); d != nil {
		t.Errorf("%+v", d)
	}
	few := runsOf(1, 1)
	for _, d := range []*Together{in.Divide(2, few[:1], few), in.Divide(2, few, nil), in.Divide(3, few, few), in.Divide(2, []Run{{Wall: 1}, {Wall: 1}}, few)} {
		if d != nil {
			t.Errorf("from too little: %+v", d)
		}
	}
}
