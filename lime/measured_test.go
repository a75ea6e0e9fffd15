package lime

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/skewlens/skewlens/profile"
)

// hardware adds a hardware event at a block and returns it.
func (m *machine) hardware(name string, b profile.BlockID, superior profile.EventID) profile.EventID {
	m.p.Events = append(m.p.Events, profile.Event{
		Kind: profile.Hardware, Name: name, Block: b, Addr: m.p.Graph.Blocks[b].Start + 4, Superior: superior})
	return profile.EventID(len(m.p.Events) - 1)
}

// put sets counts of an event, one for each part of the first instance.
func put(p *profile.Profile, e profile.EventID, n ...uint64) {
	parts := p.Sections[0].Instances[0].Parts
	for i := range parts {
		if n[i] > 0 {
			parts[i].Counts = parts[i].Counts.Plus(profile.Counts{Event: []profile.EventID{e}, N: []uint64{n[i]}})
		}
	}
}

// A table with one hardware event under another under a block's count.
func chainTable(block, l1, l2 []uint64) (*table, []profile.Event) {
	events := []profile.Event{
		{Kind: profile.BlockEntered, Superior: profile.NoEvent},
		{Kind: profile.Hardware, Name: "l1d-miss", Superior: 0},
		{Kind: profile.Hardware, Name: "l2-miss", Superior: 1},
	}
	r := &instance{folded: 1}
	for i := range block {
		dense := []uint64{block[i], l1[i], l2[i]}
		r.parts = append(r.parts, profile.Part{Counts: sparse(dense)})
	}
	return newTable(3, r), events
}

func TestCausality(t *testing.T) {
	// Every execution misses once, every second miss in L1 misses in L2: the
	// misses have nothing of their own.
	block := []uint64{100, 200, 300, 420}
	half := []uint64{50, 100, 150, 210}
	tab, events := chainTable(block, block, half)
	for e := profile.EventID(1); e <= 2; e++ {
		if v, ok := tab.adjusted(events, e); ok {
			t.Errorf("event %d keeps %v", e, v)
		}
	}
	// One thread misses more often: what is left is orthogonal to all above.
	own := []uint64{100, 200, 300, 800}
	l2 := []uint64{50, 100, 250, 400}
	tab, events = chainTable(block, own, l2)
	v1, ok1 := tab.adjusted(events, 1)
	v2, ok2 := tab.adjusted(events, 2)
	if !ok1 || !ok2 {
		t.Fatal("an event lost its own variance")
	}
	b := tab.centre(tab.counts(0))
	for _, r := range []float64{floats.Dot(v1, b), floats.Dot(v2, b), floats.Dot(v1, v2)} {
		if math.Abs(r) > 1e-6 {
			t.Errorf("not orthogonal: %v", r)
		}
	}
	// An instruction that is executed equally often takes nothing away.
	tab, events = chainTable([]uint64{7, 7, 7, 7}, own, l2)
	if v, _ := tab.adjusted(events, 1); math.Abs(v[3]-(800-350)) > 1e-9 {
		t.Errorf("adjusted %v", v)
	}
}

// Threads execute the same and wait for memory: a hardware cause.
func TestHardwareCause(t *testing.T) {
	const n = 12
	m := newMachine()
	l := &repeat{trips: fixed(1000), instructions: 10}
	main := m.function("main", append(decoys(), l)...)
	miss := m.hardware("l2-miss", l.head, m.p.Graph.Blocks[l.head].Count)
	p := m.run(all(main, n)...)
	misses := make([]uint64, n)
	for i := range misses {
		misses[i] = uint64(100 + 50*((i*7)%n))
	}
	put(p, miss, misses...)
	withBusyTime(p, 1)
	parts := p.Sections[0].Instances[0].Parts
	for i := range parts {
		parts[i].BusyNS += 100 * int64(misses[i])
	}
	if res := analyse(t, p, Options{}); !res.Balanced {
		t.Errorf("by instructions it is balanced: %+v", res)
	}
	for _, method := range []Method{Exact, Paper} {
		res := analyse(t, p, Options{Response: profile.BusyTime, Method: method})
		if len(res.Causes) == 0 {
			t.Fatalf("%s: no cause: %+v", method, res)
		}
		c := res.Causes[0]
		if c.Kind != "l2-miss" || c.Leader != "" || c.Addr != p.Events[miss].Addr || c.Share < 0.95 || !math.IsNaN(c.LeaderScore) || !(c.P < 0.05) {
			t.Errorf("%s: %+v", method, c)
		}
		if !slices.Equal(c.Counts, misses) {
			t.Errorf("%s: counts %v", method, c.Counts)
		}
		if method == Exact && math.Abs(c.Gain-res.Imbalance) > 0.02 {
			t.Errorf("evening the misses saves %v of %v", c.Gain, res.Imbalance)
		}
	}
}

// A control-flow cause, its time measured with noise.
func TestMeasuredControlFlow(t *testing.T) {
	for _, n := range []int{8, 16, 32} {
		m := newMachine()
		l := &repeat{trips: func(w *walker) int { return 200 + 40*skew(w) }, instructions: 10}
		p := m.run(all(m.function("main", append(decoys(), l)...), n)...)
		withBusyTime(p, 2)
		parts := p.Sections[0].Instances[0].Parts
		for i := range parts {
			parts[i].BusyNS += parts[i].BusyNS * int64(i*i%7-3) / 200
		}
		res := analyse(t, p, Options{Response: profile.BusyTime})
		if len(res.Causes) == 0 {
			t.Fatalf("%d threads: no cause", n)
		}
		c := res.Causes[0]
		if c.Addr != m.last(l.head) || c.Leader != Loop || c.Share < 0.9 || !(c.P < 0.05) || math.Abs(c.Score-c.Beta*c.LeaderScore) > 1e-9 {
			t.Errorf("%d threads: %+v", n, c)
		}
		if res.Response != profile.BusyTime || c.Gain < 0.8*res.Imbalance || c.Gain > 1.2*res.Imbalance {
			t.Errorf("%d threads: gain %v of imbalance %v", n, c.Gain, res.Imbalance)
		}
	}
}

// Few threads: one instance is too little for an F test, several are not.
func TestPooledInstances(t *testing.T) {
	const n = 4
	m := newMachine()
	l := &repeat{trips: func(w *walker) int { return 200 + 40*((w.id*3+w.m.round)%n) }, instructions: 10}
	mains := all(m.function("main", l), n)
	m.start(mains)
	for m.round = range 6 {
		m.instance(mains)
	}
	withBusyTime(&m.p, 2)
	for i := range m.p.Sections[0].Instances {
		parts := m.p.Sections[0].Instances[i].Parts
		for k := range parts {
			parts[k].BusyNS += int64((i*5 + k*3) % 11 * 100)
		}
	}
	res := analyse(t, &m.p, Options{Response: profile.BusyTime})
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(l.head) {
		t.Fatalf("causes %+v", res.Causes)
	}
	// One cluster; its p is that of r over all parts, less a mean for each
	// instance and the slope.
	var x, y []float64
	var gs groups
	for _, in := range m.p.Sections[0].Instances {
		gs = append(gs, group{len(x), len(x) + n, 1})
		for _, part := range in.Parts {
			x, y = append(x, float64(m.p.Instructions(part.Counts))), append(y, float64(part.BusyNS))
		}
	}
	r := floats.Dot(gs.unit(x), gs.unit(y))
	df := 6*n - 6 - 1
	if want := (distuv.F{D1: 1, D2: float64(df)}).Survival(r * r / (1 - r*r) * float64(df)); math.Abs(res.Causes[0].P-want) > 1e-6*want {
		t.Errorf("p = %v, want %v", res.Causes[0].P, want)
	}
	if !hasWarning(res, "pooled") {
		t.Errorf("warnings %v", res.Warnings)
	}
}

func hasWarning(res *Result, code string) bool {
	return slices.ContainsFunc(res.Warnings, func(w profile.Warning) bool { return w.Code == code })
}

// Cycles come as hardware events of that name.
func TestCyclesAsResponse(t *testing.T) {
	m := newMachine()
	l := &repeat{trips: func(w *walker) int { return 100 + 50*skew(w) }, instructions: 10}
	main := m.function("main", l)
	cycles := m.hardware(string(profile.HardwareCycle), main.entry, profile.NoEvent)
	p := m.run(all(main, 16)...)
	var n []uint64
	for _, x := range p.Sections[0].Instances[0].Parts {
		n = append(n, 3*p.Instructions(x.Counts))
	}
	put(p, cycles, n...)
	res := analyse(t, p, Options{Response: profile.HardwareCycle})
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(l.head) {
		t.Errorf("causes %+v", res.Causes)
	}
	if _, err := Analyse(p, &p.Sections[0], Options{Response: profile.ModelCycles}); err == nil {
		t.Error("cycles that were not modelled are no error")
	}
}
