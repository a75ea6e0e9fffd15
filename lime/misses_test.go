package lime

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// simulated is a machine's run with misses at a loop's head, of so many cycles each.
func simulated(trips func(*walker) int, cycles uint32, misses ...uint64) (*machine, *profile.Profile, profile.EventID) {
	m := newMachine()
	l := &repeat{trips: trips, instructions: 10}
	main := m.function("main", append(decoys(), l)...)
	miss := m.hardware("l2-miss", l.head, m.p.Graph.Blocks[l.head].Count)
	m.p.Events[miss].Cycles, m.p.Events[miss].Reason = cycles, "capacity"
	m.p.Run.Machine = "a machine"
	p := m.run(all(main, len(misses))...)
	put(p, miss, misses...)
	return m, p, miss
}

// Threads execute the same, and miss differently: the misses are the cause, with
// all that the model says that they cost.
func TestMissesAreACause(t *testing.T) {
	misses := []uint64{100, 150, 120, 900, 110, 130, 160, 140}
	_, p, miss := simulated(fixed(1000), 50, misses...)
	res := analyse(t, p, Options{Response: profile.ModelCycles})
	if len(res.Causes) != 1 {
		t.Fatalf("%+v", res)
	}
	c := res.Causes[0]
	if c.Kind != "l2-miss" || c.Event != miss || c.Share < 0.999 || c.Leader != "" || !slices.Equal(c.Counts, misses) || math.Abs(c.Gain-res.Imbalance) > 1e-3 {
		t.Errorf("%+v", c)
	}
	most := float64(p.ModelCycles(p.Sections[0].Instances[0].Parts[3].Counts))
	if want := 50 * (900 - float64(100+150+120+900+110+130+160+140)/8) / most; math.Abs(c.Gain-want) > 1e-3 {
		t.Errorf("gain %v, want %v", c.Gain, want)
	}
	if c.Erased < 0.999 {
		t.Errorf("without the misses %v of the lost time is gone", c.Erased)
	}
	if res := analyse(t, p, Options{}); !res.Balanced {
		t.Errorf("by instructions it is balanced: %+v", res)
	}
}

// Who executes more misses more: the decision is the cause, of the misses too.
func TestMissesLoseToTheirSuperior(t *testing.T) {
	trips := func(w *walker) int { return 100 + 50*skew(w) }
	_, p, miss := simulated(trips, 50, make([]uint64, 16)...)
	var n []uint64
	for i := range p.Sections[0].Instances[0].Parts {
		q := &p.Sections[0].Instances[0].Parts[i]
		n = append(n, q.Counts.Of(p.Events[miss].Superior)/2)
	}
	put(p, miss, n...)
	res := analyse(t, p, Options{Response: profile.ModelCycles})
	if len(res.Causes) != 1 || res.Causes[0].Kind != "control-flow" || res.Causes[0].Leader != Loop || res.Causes[0].Share < 0.99 {
		t.Errorf("%+v", res.Causes)
	}
	if byInstructions := analyse(t, p, Options{Response: profile.Instructions}); !(res.Causes[0].Gain > byInstructions.Causes[0].Gain) {
		t.Errorf("gain %v with the misses, %v without", res.Causes[0].Gain, byInstructions.Causes[0].Gain)
	}
}

// Both: each has what is its own.
func TestMissesBesideDecisions(t *testing.T) {
	trips := func(w *walker) int { return 100 + 50*skew(w) }
	misses := []uint64{0, 9000, 0, 0, 9000, 0, 0, 0, 9000, 0, 0, 0, 0, 9000, 0, 0}
	_, p, _ := simulated(trips, 2, misses...)
	res := analyse(t, p, Options{Response: profile.ModelCycles})
	if len(res.Causes) != 2 {
		t.Fatalf("%+v", res.Causes)
	}
	kinds := []string{res.Causes[0].Kind, res.Causes[1].Kind}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"control-flow", "l2-miss"}) || res.R2 < 0.95 {
		t.Errorf("%v, R² %v", kinds, res.R2)
	}
	for _, c := range res.Causes { // what the loop loses remains
		if c.Kind == "l2-miss" != (c.Erased > 0.3 && c.Erased < 0.999) || c.Kind == "control-flow" != (c.Erased == 0) {
			t.Errorf("without the misses %v of the lost time is gone: %s", c.Erased, c.Kind)
		}
	}
}

// TestMissesAddUp: what follows executions and what is the events' own is, with the
// instructions, all that the model says.
func TestMissesAddUp(t *testing.T) {
	trips := func(w *walker) int { return 100 + 50*skew(w) }
	_, p, _ := simulated(trips, 7, 3, 1000, 4, 2000, 5, 600, 7, 800)
	in := &instance{folded: 1, parts: p.Sections[0].Instances[0].Parts}
	tab := newTable(len(p.Events), in)
	m := newMisses(p, tab, func(profile.Addr) string { return "" })
	c := newCosts(newGraph(p), tab, nil, m.following)
	sum := slices.Clone(c.executed)
	for _, x := range m.own {
		floats.Add(sum, x.cost)
	}
	for i := range in.parts {
		if want := float64(p.ModelCycles(in.parts[i].Counts)); math.Abs(sum[i]-want) > 1e-6*want {
			t.Errorf("part %d: %v cycles, want %v", i, sum[i], want)
		}
	}
	if len(m.follow) == 0 || len(m.own) != 1 {
		t.Errorf("%v follow, %d are their own", m.follow, len(m.own))
	}
}

// What another run has left of the lost time is what erasing its misses did not
// remove; where it executed something else, nothing follows.
func TestErasure(t *testing.T) {
	before := []uint64{100, 150, 120, 900, 110, 130, 160, 140}
	_, p, miss := simulated(fixed(1000), 50, before...)
	if c := analyse(t, p, Options{Response: profile.ModelCycles}).Causes[0]; !slices.Equal(c.Missing, []profile.Addr{p.Events[miss].Addr}) {
		t.Errorf("the misses are at %#x, want %#x", c.Missing, p.Events[miss].Addr)
	}
	idle := func(n []uint64) (sum float64) {
		for _, x := range n {
			sum += float64(slices.Max(n) - x)
		}
		return sum
	}
	for _, after := range [][]uint64{make([]uint64, 8), {0, 0, 0, 400, 0, 0, 0, 0}, {0, 0, 0, 2000, 0, 0, 0, 0}, before} {
		_, q, _ := simulated(fixed(1000), 50, after...)
		gone, ok := Erasure(p, &p.Sections[0], q, &q.Sections[0])
		if want := 1 - idle(after)/idle(before); !ok || math.Abs(gone-want) > 1e-3 {
			t.Errorf("%v: %v is gone, want %v", after, gone, want)
		}
	}
	for name, other := range map[string]*profile.Profile{
		"more work":    second(simulated(fixed(1100), 50, before...)),
		"other shares": second(simulated(func(w *walker) int { return 1000 + 1000*(w.id%2) - 500 }, 50, before...)),
		"less threads": second(simulated(fixed(1000), 50, before[:7]...)),
	} {
		if gone, ok := Erasure(p, &p.Sections[0], other, &other.Sections[0]); ok {
			t.Errorf("%s: %v is gone", name, gone)
		}
	}
}

func second(_ *machine, p *profile.Profile, _ profile.EventID) *profile.Profile { return p }
