package scaling

import (
	"math"
	"strings"
	"testing"
)

// sums are the heights of a stack, and how much of it is idle time.
func sums(p *Point) (height, core, idle float64) {
	for _, c := range p.Stack {
		height, core = height+c.Speedup, core+c.CoreS
		if strings.HasPrefix(c.Name, "idle") {
			idle += c.CoreS
		}
	}
	return height, core, idle
}

// TestStacksAddUp: components are as high as P together and make all of the core time,
// the speedup's is the actual one, and idle time is the same however it is divided.
func TestStacksAddUp(t *testing.T) {
	r := New(study(t))
	check := func() {
		t.Helper()
		for i := range r.Points {
			p := &r.Points[i]
			if p.Oversubscribed != (p.Stack == nil) {
				t.Fatalf("on %d cores: %+v", p.P, p.Stack)
			}
			if p.Stack == nil {
				continue
			}
			height, core, idle := sums(p)
			if math.Abs(height-float64(p.P)) > 1e-9 || math.Abs(core-float64(p.P)*p.TimeS) > 1e-9*core || math.Abs(idle-*p.IdleS) > 1e-9 {
				t.Errorf("on %d cores: %v high, %v of core time %v, %v idle of %v", p.P, height, core, float64(p.P)*p.TimeS, idle, *p.IdleS)
			}
			if got := p.Stack[0].Speedup; math.Abs(got-*p.Speedup.Actual) > 1e-9 {
				t.Errorf("on %d cores: the stack's speedup is %v, the actual one %v", p.P, got, *p.Speedup.Actual)
			}
		}
	}
	check()
	r.Waits = WaitsOf(waiting(), 4)
	r.DivideIdle() // 4 cores, 4.5 s, 6 s of work
	check()
	last := r.Points[2].Stack
	if n := len(last); n != 7 || last[3].Name != "idle-lock" || last[n-1].Name != "idle-none" || math.Abs(last[3].CoreS / *r.Points[2].IdleS - 2.25/12) > 1e-9 {
		t.Errorf("%+v", last)
	}
}

// TestIdleTimeThatCannotBeDivided stays as it is.
func TestIdleTimeThatCannotBeDivided(t *testing.T) {
	r := New(study(t))
	r.DivideIdle()
	busy := waiting()
	busy[0].CPUS = 20 // more than the cores have
	r.Waits = WaitsOf(busy, 4)
	r.DivideIdle()
	if s := r.Points[2].Stack; s[len(s)-1].Name != "idle" {
		t.Errorf("%+v", s)
	}
	s := study(t)
	s.Baseline = ""
	if r := New(s); len(r.Points[1].Stack) != 3 {
		t.Errorf("overhead against itself: %+v", r.Points[1].Stack)
	}
}
