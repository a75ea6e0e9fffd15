package words

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/report/scaling"
)

// TestStack: components from the bottom to the top, those below nothing left out; in
// words what idle time was for, if that is known.
func TestStack(t *testing.T) {
	r := &scaling.Report{Points: []scaling.Point{
		{P: 1, Stack: []scaling.Component{{Name: "speedup", Speedup: 1}}},
		{P: 4, Stack: []scaling.Component{{Name: "idle-lock", Speedup: .75}, {Name: "speedup", Speedup: 2.5}, {Name: "inflation", Speedup: -.25}, {Name: "idle-none", Speedup: 1}, {Name: "idle-io", Speedup: .001}}},
		{P: 8},
	}}
	names, says := StackNames(r)
	if want := []string{"speedup", "idle-none", "idle-lock", "idle-io"}; !reflect.DeepEqual(names, want) || says[1] != "idle: no thread for the core" {
		t.Errorf("%q %q", names, says)
	}
	if got := Stack(r); got != "what idle time costs of a speedup of 4, about, divided as threads waited in recorded runs: no thread for the core 1.00, locks 0.75" {
		t.Error(got)
	}
	r.Points[1].Stack = r.Points[1].Stack[1:2]
	if got := Stack(r); got != "" {
		t.Error(got)
	}
	if got := Stack(&scaling.Report{Points: r.Points[:1]}); got != "" {
		t.Error(got)
	}
}
