package words

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/report/scaling"
)

// TestForeseen: what is foreseen, why it is not what was measured, and what more
// threads would bring.
func TestForeseen(t *testing.T) {
	if Foreseen(&scaling.Report{}) != nil {
		t.Error("words about no forecast")
	}
	f := &scaling.Forecast{P: 2, WorkS: 2, PathS: 1.25, Points: []scaling.Foreseen{{P: 2, Speedup: 1.6}, {P: 4, Speedup: 2, Best: number(3)}, {P: 8, Speedup: 2.5, Best: number(2.5), Limited: true}},
		Part: &scaling.Parting{P: 2, Measured: 1.2, Forecast: 1.6, CoreS: 1.5, InflationS: 2, IdleS: -.5}}
	r := &scaling.Report{Forecast: f}
	want := "forecast for 2 cores: a speedup of up to 1.60, from the tasks of a profiled run: 2.00 s of work, a critical path of 1.25 s\n" +
		"on 2 cores 1.20 was measured, 1.60 foreseen, 1.50 s of core time more: work takes 2.00 s longer (memory, caches, spinning), which no forecast of this kind can see; cores idle 500 ms less than in the profiled run\n" +
		"with as many threads, the units of work dealt out as they are, it would be up to 2.00 on 4 (dealt best: 3.00), 2.50 on 8; from 8 on the largest unit limits"
	if got := strings.Join(Foreseen(r), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	f.Points = f.Points[:1]
	f.Part.CoreS, f.Part.InflationS, f.Part.IdleS = -.5, -1, .5
	if got := Foreseen(r); len(got) != 2 || !strings.Contains(got[1], "500 ms of core time less: work takes 1.00 s less time; cores idle 500 ms more") {
		t.Errorf("%q", got)
	}
	if f.Part.Within = true; !strings.HasSuffix(Foreseen(r)[1], "no more apart than the runs are") {
		t.Errorf("%q", Foreseen(r))
	}
}
