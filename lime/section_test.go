package lime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// rounds runs a loop whose trips depend on thread and round.
func rounds(n, instances int, trips func(id, round int) int) (*machine, *repeat) {
	m := newMachine()
	l := &repeat{trips: func(w *walker) int { return trips(w.id, w.m.round) }, instructions: 10}
	mains := all(m.function("main", l), n)
	m.start(mains)
	for m.round = range instances {
		m.instance(mains)
	}
	return m, l
}

func TestInstancesAreWeightedByLostTime(t *testing.T) {
	const n = 8
	m := newMachine()
	// In the first instance the loop is to blame, in the second, which loses
	// three times as much, the decision.
	l := &repeat{trips: func(w *walker) int { return 100 + 10*skew(w)*(1-w.m.round) }, instructions: 10}
	d := &when{cond: func(w *walker) bool { return w.iter < 30*skew(w)*w.m.round }, then: []stmt{&work{instructions: 9}}}
	mains := all(m.function("main", l, &repeat{trips: fixed(300), instructions: 1, body: []stmt{d}}), n)
	m.start(mains)
	for m.round = range 2 {
		m.instance(mains)
	}
	res := analyse(t, &m.p, Options{})
	if len(res.Causes) != 2 {
		t.Fatalf("causes %+v", res.Causes)
	}
	a, b := res.Causes[0], res.Causes[1]
	if a.Addr != m.last(d.head) || b.Addr != m.last(l.head) {
		t.Errorf("order: %#x, %#x", uint64(a.Addr), uint64(b.Addr))
	}
	if math.Abs(a.Share-0.75) > 0.01 || math.Abs(b.Share-0.25) > 0.01 {
		t.Errorf("shares %v, %v", a.Share, b.Share)
	}
	if a.LeaderScore < 0.9 || b.LeaderScore < 0.9 {
		t.Errorf("leader scores %v, %v are over the instances that have the cause", a.LeaderScore, b.LeaderScore)
	}
	if math.Abs(res.JointGain-a.Gain-b.Gain) > 1e-9 || math.Abs(res.JointGain-res.Imbalance) > 0.01 {
		t.Errorf("gains %v + %v, together %v, imbalance %v", a.Gain, b.Gain, res.JointGain, res.Imbalance)
	}
}

// Who is slow changes from round to round: sums by thread would show nothing.
func TestRotatingImbalance(t *testing.T) {
	const n, instances = 8, 8
	m, l := rounds(n, instances, func(id, round int) int { return 100 + 50*((id+round)%n) })
	res := analyse(t, &m.p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(l.head) || res.Causes[0].Share < 0.999 || res.Instances != instances {
		t.Fatalf("%+v", res)
	}
	for _, c := range res.Causes[0].Counts {
		if c != res.Causes[0].Counts[0] {
			t.Errorf("every thread did the same in sum: %v", res.Causes[0].Counts)
		}
	}
	want := 50 * 3.5 / 450
	if math.Abs(res.Imbalance-want) > 0.01 {
		t.Errorf("imbalance %v, want about %v", res.Imbalance, want)
	}
}

// Folding by rank keeps imbalance and gains, and Totals keep the threads.
func TestFoldedInstances(t *testing.T) {
	const n, instances = 8, 20
	m, l := rounds(n, instances, func(id, round int) int { return 100 + 50*((id*3+round)%n) })
	s := &m.p.Sections[0]
	plain := analyse(t, &m.p, Options{})

	a := New(&m.p)
	all, err := a.instances(s, profile.Instructions)
	if err != nil {
		t.Fatal(err)
	}
	f := fold(len(m.p.Events), all[:15])
	folded := *s
	folded.Instances = append([]profile.Instance{{Parts: f.parts, Folded: 15}}, s.Instances[15:]...)
	for i := range n {
		total := profile.Part{Thread: profile.ThreadID(i + 1)}
		for _, in := range s.Instances {
			total.Counts = total.Counts.Plus(in.Parts[i].Counts)
		}
		folded.Totals = append(folded.Totals, total)
	}
	for i := range f.parts {
		f.parts[i].Thread = profile.ThreadID(i)
	}
	res, err := a.Section(&folded, Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "folded", plain, res)
	if res.Instances != instances || res.Causes[0].Addr != m.last(l.head) {
		t.Errorf("%+v", res)
	}
	if !slices.Equal(res.Causes[0].Counts, plain.Causes[0].Counts) || !slices.Equal(res.Threads, plain.Threads) {
		t.Errorf("threads: %v %v\n%v %v", res.Causes[0].Counts, res.Threads, plain.Causes[0].Counts, plain.Threads)
	}
}

// More instances than are analysed one by one give what all of them give.
func TestManyInstances(t *testing.T) {
	const n = 6
	trips := func(id, round int) int { return 100 + 5*((id*3+round)%n)*(1+round%40) }
	m, l := rounds(n, 400, trips)
	res := analyse(t, &m.p, Options{})
	most, idle := 0.0, 0.0
	for _, in := range m.p.Sections[0].Instances {
		var top, sum uint64
		for _, x := range in.Parts {
			v := m.p.Instructions(x.Counts)
			top, sum = max(top, v), sum+v
		}
		most += float64(top)
		idle += float64(top)*n - float64(sum)
	}
	if math.Abs(res.Imbalance-idle/(n*most)) > 1e-12 || res.Instances != 400 {
		t.Errorf("imbalance %v, want %v", res.Imbalance, idle/(n*most))
	}
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(l.head) || math.Abs(res.Causes[0].Share-1) > 1e-6 ||
		math.Abs(res.JointGain-res.Imbalance) > 1e-6 {
		t.Errorf("%+v", res)
	}
	sum := uint64(0)
	for _, c := range res.Causes[0].Counts {
		sum += c
	}
	want := uint64(0)
	for round := range 400 {
		for id := range n {
			want += uint64(trips(id, round) - 1)
		}
	}
	if sum != want {
		t.Errorf("counts sum to %d, want %d back edges", sum, want)
	}
}

// Instances need not have the same threads.
func TestThreadsDiffer(t *testing.T) {
	m, _ := rounds(4, 2, func(id, round int) int { return 100 + 40*id })
	parts := m.p.Sections[0].Instances[1].Parts
	for i := range parts {
		parts[i].Thread += 2
	}
	m.p.Sections[0].Instances[1].Parts = parts[:3]
	res := analyse(t, &m.p, Options{})
	var ids []profile.ThreadID
	for _, x := range res.Threads {
		ids = append(ids, x.Thread)
	}
	if !slices.Equal(ids, []profile.ThreadID{1, 2, 3, 4, 5}) {
		t.Errorf("threads %v", ids)
	}
	if len(res.Causes) != 1 || !slices.Equal(res.Causes[0].Counts, []uint64{99, 139, 179 + 99, 219 + 139, 179}) {
		t.Errorf("causes %+v", res.Causes)
	}
}

func TestStartCauseCountsThreads(t *testing.T) {
	m := newMachine()
	slow := m.function("slow", &repeat{trips: fixed(500), instructions: 9})
	fast := m.function("fast", &repeat{trips: fixed(100), instructions: 8})
	mains := []*function{fast, slow, fast, fast, slow, fast}
	m.start(mains)
	m.instance(mains)
	m.instance(mains)
	res := analyse(t, &m.p, Options{})
	if len(res.Causes) != 1 || !slices.Equal(res.Causes[0].Counts, []uint64{0, 2, 0, 0, 2, 0}) || !hasWarning(res, "decided-before-section") {
		t.Errorf("%+v", res)
	}
	if c := res.Causes[0]; c.Addr != m.p.Graph.Blocks[slow.entry].Start || !math.IsNaN(c.WholeUnits) || c.To != 0 {
		t.Errorf("%+v", c)
	}
}

func TestSpinIsLeftOut(t *testing.T) {
	m := newMachine()
	l := &repeat{trips: func(w *walker) int { return 100 + 40*skew(w) }, instructions: 10}
	spin := &repeat{trips: func(w *walker) int { return 2000 - 80*skew(w) }, instructions: 5}
	main := m.function("main", l, spin)
	p := m.run(all(main, 8)...)
	if res := analyse(t, p, Options{}); hasWarning(res, "spin") {
		t.Errorf("nothing spins: %v", res.Warnings)
	}
	p.Graph.Blocks[spin.head].Spin = true
	res := analyse(t, p, Options{})
	if !hasWarning(res, "spin") || len(res.Causes) != 1 || res.Causes[0].Addr != m.last(l.head) || res.Causes[0].Share < 0.999 {
		t.Errorf("%+v", res)
	}
	for _, x := range res.Causes[0].Members {
		if x.Addr == m.last(spin.head) {
			t.Errorf("the spinning loop is a member: %+v", x)
		}
	}
}

// What spins inside a guilty region is no part of the region's cost.
func TestSpinInsideARegion(t *testing.T) {
	m := newMachine()
	spin := &repeat{trips: func(w *walker) int { return 500 - 20*skew(w) }, instructions: 5}
	d := &when{cond: func(w *walker) bool { return skew(w) > 3 }, then: []stmt{spin, &repeat{trips: fixed(300), instructions: 10}}}
	p := m.run(all(m.function("main", &work{instructions: 500}, d), 8)...)
	p.Graph.Blocks[spin.head].Spin = true
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(d.head) || math.Abs(res.Causes[0].Share-1) > 1e-9 || math.Abs(res.Causes[0].Gain-res.Imbalance) > 1e-9 {
		t.Errorf("%+v", res)
	}
	if edge := m.edge[[2]profile.BlockID{spin.head, spin.head}]; countable(newGraph(p), &p.Graph.Edges[edge]) {
		t.Error("an edge that counts waiting can carry a difference")
	}
}

// A count that is unknown is never taken for zero.
func TestUnknownCounts(t *testing.T) {
	build := func() (*machine, *when, *profile.Profile) {
		m := newMachine()
		d := &when{cond: func(w *walker) bool { return w.iter < 40*skew(w) }, then: []stmt{&work{instructions: 30}}}
		return m, d, m.run(all(m.function("main", &repeat{trips: fixed(600), instructions: 2, body: []stmt{d}}), 8)...)
	}
	forget := func(m *machine, e profile.EventID) {
		m.p.Events[e] = profile.Event{Kind: profile.Hardware, Name: "forgotten", Block: profile.NoBlock, Superior: profile.NoEvent}
		for i := range m.p.Graph.Edges {
			if m.p.Graph.Edges[i].Count == e {
				m.p.Graph.Edges[i].Count = profile.NoEvent
			}
		}
		for i := range m.p.Graph.Blocks {
			if m.p.Graph.Blocks[i].Count == e {
				m.p.Graph.Blocks[i].Count = profile.NoEvent
			}
		}
		parts := m.p.Sections[0].Instances[0].Parts
		for i := range parts {
			c := &parts[i].Counts
			if k := slices.Index(c.Event, e); k >= 0 {
				c.Event, c.N = slices.Delete(c.Event, k, k+1), slices.Delete(c.N, k, k+1)
			}
		}
	}
	// The way into the decision is unknown, but not how often it was made.
	m, d, p := build()
	for i := range p.Graph.Edges {
		if p.Graph.Edges[i].To == d.head {
			forget(m, p.Graph.Edges[i].Count)
			break
		}
	}
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(d.head) {
		t.Errorf("%+v", res)
	}
	// The body's own count is unknown: its work is missing, and that is said.
	m, d, p = build()
	forget(m, p.Graph.Blocks[d.yes].Count)
	if res := analyse(t, p, Options{}); !hasWarning(res, "uncounted") {
		t.Errorf("warnings %v", res.Warnings)
	}
	// It is the C library's own.
	p.Graph.Functions[p.Graph.Blocks[d.yes].Function].Name = "start_thread"
	if res := analyse(t, p, Options{}); hasWarning(res, "uncounted") {
		t.Errorf("the C library's: warnings %v", res.Warnings)
	}
}

// What is missing of a block that is left as often as is known is said only if it
// matters.
func TestHardlyAnythingUncounted(t *testing.T) {
	for instructions, want := range map[int32]bool{1: false, 1 << 20: true} {
		m := newMachine()
		between := &repeat{trips: func(*walker) int { return 3 }, instructions: 1}
		main := m.function("main", between, &repeat{trips: func(w *walker) int { return 1000 + 500*w.id }, instructions: 99})
		p := m.run(all(main, 4)...)
		small := &p.Graph.Blocks[between.head]
		small.Instructions = instructions
		p.Events[small.Count] = profile.Event{Kind: profile.Hardware, Name: "forgotten", Block: profile.NoBlock, Superior: profile.NoEvent}
		small.Count = profile.NoEvent
		if res := analyse(t, p, Options{}); hasWarning(res, "uncounted") != want {
			t.Errorf("%d instructions: warnings %v", instructions, res.Warnings)
		}
	}
}

// A recursion in a function of which nothing but the recursive call was
// counted: what it costs is unknown.
func TestUncountedRecursion(t *testing.T) {
	m := newMachine()
	deep := m.function("deep")
	main := m.function("main", &call{f: deep}, &repeat{trips: func(w *walker) int { return 10 + 5*w.id }, instructions: 9})
	p := m.run(all(main, 4)...)
	entry := &p.Graph.Blocks[deep.entry]
	p.Events[entry.Count] = profile.Event{Kind: profile.Hardware, Name: "forgotten", Block: profile.NoBlock, Superior: profile.NoEvent}
	entry.Count = profile.NoEvent
	again := m.event(profile.Event{Kind: profile.EdgeTaken, Edge: int32(len(p.Graph.Edges)), Addr: entry.Last, Block: profile.NoBlock})
	p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: deep.entry, To: deep.entry, Kind: profile.Indirect, Site: entry.Last, Count: again})
	put(p, again, 3, 1, 20, 9)
	p.Locations = append(p.Locations, profile.Location{Address: p.Graph.Functions[entry.Function].Entry, Frame: profile.Frame{File: "a.h", Line: 1, Function: "graph::inner"},
		InlinedAt: []profile.Frame{{File: "a.cc", Line: 2, Function: "graph::deep"}}})
	slices.SortFunc(p.Locations, func(a, b profile.Location) int { return cmp.Compare(a.Address, b.Address) })
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || !hasWarning(res, "uncounted") || !strings.Contains(fmt.Sprint(res.Warnings), "Work in graph::deep could") {
		t.Errorf("%+v", res)
	}
}

func TestVirtualLeaderIsAtItsSource(t *testing.T) {
	// A table jump through a meeting point: source → virtual → one of two.
	m := newMachine()
	d := &when{cond: func(w *walker) bool { return w.iter < 40*skew(w) }, then: []stmt{&work{instructions: 30}}, otherwise: []stmt{&work{instructions: 3}}}
	source := &work{instructions: 4}
	p := m.run(all(m.function("main", &repeat{trips: fixed(600), instructions: 2, body: []stmt{source, d}}), 8)...)
	b := &p.Graph.Blocks[d.head]
	b.Virtual, b.Instructions = true, 0
	res := analyse(t, p, Options{})
	if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(source.to) {
		t.Errorf("%+v, want %#x", res.Causes, uint64(m.last(source.to)))
	}
}

func TestFewThreadsAndLowR2(t *testing.T) {
	m, _ := rounds(3, 1, func(id, _ int) int { return 100 + 40*id })
	if res := analyse(t, &m.p, Options{}); !hasWarning(res, "few-threads") || hasWarning(res, "low-r2") {
		t.Errorf("warnings %v", res.Warnings)
	}
	// Busy times that have nothing to do with what was executed.
	m, _ = rounds(8, 1, func(id, _ int) int { return 100 })
	withBusyTime(&m.p, 1)
	parts := m.p.Sections[0].Instances[0].Parts
	for i := range parts {
		parts[i].BusyNS += int64(i) * 500
	}
	res := analyse(t, &m.p, Options{Response: profile.BusyTime})
	if len(res.Causes) != 0 || !hasWarning(res, "low-r2") || !math.IsNaN(res.R2) || !math.IsNaN(res.JointGain) {
		t.Errorf("%+v", res)
	}
}

func TestFirstThreadsTookAll(t *testing.T) {
	m, _ := rounds(8, 5, func(id, round int) int {
		if id == round || id == round+2 {
			return 1000
		}
		return 1
	})
	for cores, want := range map[int]bool{0: false, 1: false, 2: true, 8: false} {
		m.p.Run.Cores = cores
		if res := analyse(t, &m.p, Options{}); hasWarning(res, "more-threads-than-cores") != want {
			t.Errorf("%d cores: %v", cores, res.Warnings)
		}
	}
	// New threads in each round: who is busy is another one by construction.
	m, _ = rounds(8, 5, func(id, _ int) int {
		if id < 2 {
			return 1000
		}
		return 1
	})
	m.p.Run.Cores = 2
	for i := range m.p.Sections[0].Instances {
		for k := range m.p.Sections[0].Instances[i].Parts {
			m.p.Sections[0].Instances[i].Parts[k].Thread += profile.ThreadID(8 * i)
		}
	}
	if res := analyse(t, &m.p, Options{}); hasWarning(res, "more-threads-than-cores") {
		t.Errorf("new threads: %v", res.Warnings)
	}
}

func TestErrors(t *testing.T) {
	m, _ := rounds(4, 1, func(id, _ int) int { return 100 + id })
	for _, opt := range []Options{
		{Method: "best"}, {Stop: 2}, {Stop: -1}, {Stop: math.NaN()}, {Bulk: 0.5}, {Bulk: 2},
		{Response: profile.BusyTime}, {Response: profile.ModelCycles}, {Response: "bananas"},
	} {
		if _, err := Analyse(&m.p, &m.p.Sections[0], opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
	if _, err := Analyse(&m.p, &profile.Section{}, Options{}); err == nil {
		t.Error("no instances: no error")
	}
}

// One Analyser serves several goroutines.
func TestConcurrentAnalyses(t *testing.T) {
	m, l := rounds(8, 4, func(id, round int) int { return 100 + 40*((id+round)%8) })
	a := New(&m.p)
	done := make(chan *Result)
	for range 4 {
		go func() {
			res, _ := a.Section(&m.p.Sections[0], Options{})
			done <- res
		}()
	}
	for range 4 {
		if res := <-done; res == nil || len(res.Causes) != 1 || res.Causes[0].Addr != m.last(l.head) {
			t.Errorf("%+v", res)
		}
	}
}
