package attribution

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// counted draws the samples of runs whose lines take so many on average, and all
// differ from run to run by a part of it.
func counted(source rand.Source, runs int, differ float64, lines map[string]float64) []Samples[string] {
	rng := rand.New(source)
	all := make([]Samples[string], runs)
	for i := range all {
		all[i] = Samples[string]{}
		slower := 1 + differ*rng.NormFloat64()
		for _, l := range []string{"a", "b", "c", "d", "e"} {
			if n := lines[l]; n > 0 {
				all[i][l] = int(distuv.Poisson{Lambda: n * slower, Src: source}.Rand())
			}
		}
	}
	return all
}

func TestLinesThatGrowAreFound(t *testing.T) {
	source := rand.NewPCG(3, 4)
	at1 := counted(source, 5, 0.02, map[string]float64{"a": 1000, "b": 500, "c": 2000})
	at4 := counted(source, 5, 0.02, map[string]float64{"a": 2500, "b": 500, "c": 2000, "d": 400, "e": 5})
	grown := Inflated(at1, at4, 0.001)
	if len(grown) != 2 || grown[0].Line != "a" || grown[1].Line != "d" {
		t.Fatalf("grown are %+v, want a and d", grown)
	}
	a := grown[0]
	if a.Low > 1.5 || a.High < 1.5 || a.Low < 1.3 || a.High > 1.7 || !near(float64(a.Inflation), float64(a.WP-a.W1)) {
		t.Errorf("a has grown by %v from %v to %v, want 1.5 s", a.Inflation, a.Low, a.High)
	}
	if a.Share < 0.7 || a.Share+grown[1].Share > 1+1e-9 {
		t.Errorf("shares %v and %v", a.Share, grown[1].Share)
	}
}

// How often a line is named that has not grown: at most in one of a hundred
// comparisons of runs that differ by a percent.
func TestLinesThatDoNotGrowAreNot(t *testing.T) {
	source := rand.NewPCG(5, 6)
	lines := map[string]float64{"a": 1000, "b": 500, "c": 2000, "d": 10}
	named := 0
	for range 100 {
		named += min(1, len(Inflated(counted(source, 5, 0.01, lines), counted(source, 5, 0.01, lines), 0.001)))
	}
	if named > 1 {
		t.Errorf("%d of 100 comparisons of equal programs name a line", named)
	}
}

func TestOneRunSaysNothing(t *testing.T) {
	one := []Samples[string]{{"a": 1}}
	if Inflated(one, []Samples[string]{{"a": 100}, {"a": 100}}, 1) != nil {
		t.Error("want nothing from one run")
	}
}
