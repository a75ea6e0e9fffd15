package lime

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestMoved: when the only cause is evened out, all parts of an instance do as much
// as they did on average, whether or not the instance was added up with others;
// nothing moves between instances.
func TestMoved(t *testing.T) {
	for _, instances := range []int{8, 300} { // all one by one; most added up
		const n = 8
		m, _ := rounds(n, instances, func(id, round int) int { return 100 + 50*((id+round)%n)*(round%5) })
		s := &m.p.Sections[0]
		res := analyse(t, &m.p, Options{})
		if len(res.Causes) != 1 || len(res.Moved) != instances {
			t.Fatalf("%d causes, %d rows of %d", len(res.Causes), len(res.Moved), instances)
		}
		saved, longest := 0.0, 0.0
		for i := range s.Instances {
			row := res.Moved[i]
			before, after := make([]float64, n), make([]float64, n)
			for k := range s.Instances[i].Parts {
				before[k] = float64(m.p.Instructions(s.Instances[i].Parts[k].Counts))
				if after[k] = before[k]; row != nil {
					after[k] += row[k]
				}
			}
			if row != nil && math.Abs(floats.Sum(row)) > 1e-6 {
				t.Errorf("instance %d: %v moved away", i, floats.Sum(row))
			}
			saved, longest = saved+floats.Max(before)-floats.Max(after), longest+floats.Max(before)
		}
		if got := saved / longest; math.Abs(got-res.Causes[0].Gain) > 0.02 {
			t.Errorf("%d instances: what moved saves %v, the gain is %v", instances, got, res.Causes[0].Gain)
		}
	}
}
