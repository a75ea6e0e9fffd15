package attribution

import (
	"math/rand/v2"
	"testing"
)

// Lines that ran alone for long are named, the longest first; what is little, or was
// seen in one run only, is not.
func TestLinesThatRanAlone(t *testing.T) {
	source := rand.NewPCG(5, 6)
	runs := counted(source, 5, 0.02, map[string]float64{"a": 300, "b": 500, "c": 5})
	runs[2]["d"] = 60
	got := Serial(runs, 2, 0.01, 0.001)
	if len(got) != 2 || got[0].Line != "b" || got[1].Line != "a" {
		t.Fatalf("%+v, want b and a", got)
	}
	if b := got[0]; b.Low > 0.5 || b.High < 0.5 || b.Low < 0.4 || b.High > 0.6 || !near(float64(b.Alone), float64(mean(counts(runs, "b")))/1000) {
		t.Errorf("%+v, want 0.5 s", b)
	}
	if got := Serial(runs, 2, 0.2, 0.001); len(got) != 1 || got[0].Line != "b" {
		t.Errorf("%+v, though others waited for a core for 0.2 s", got)
	}
	if got := Serial(runs[:1], 2, 0, 0.001); got != nil {
		t.Errorf("of one run: %+v", got)
	}
}
