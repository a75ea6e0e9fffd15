package lime

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// breaking is a loop of two blocks with a way out of each.
type breaking struct {
	trips            func(*walker) int
	early            func(*walker) bool // leaves from the head, not from the latch
	head, latch, out profile.BlockID
}

func (s *breaking) emit(m *machine) {
	s.head = m.newBlock(5)
	m.link(m.cur, s.head, profile.Fall)
	m.cur = s.head
	s.latch, s.out = m.newBlock(5), m.newBlock(1)
	m.link(s.head, s.latch, profile.Fall)
	m.link(s.head, s.out, profile.Taken)
	m.link(s.latch, s.head, profile.Taken)
	m.link(s.latch, s.out, profile.Fall)
	m.cur = s.out
}

func (s *breaking) run(w *walker) {
	n := max(1, s.trips(w))
	for i := range n {
		w.step(s.head)
		if i == n-1 && s.early(w) {
			break
		}
		w.step(s.latch)
	}
	w.step(s.out)
}

// A loop is located at the branch by which it is left most, in a tie at the
// test at its bottom.
func TestLoopIsLocatedAtItsExit(t *testing.T) {
	for early, atHead := range map[int]bool{0: false, 4: false, 5: true, 8: true} {
		m := newMachine()
		l := &breaking{trips: func(w *walker) int { return 200 + 50*skew(w) }, early: func(w *walker) bool { return w.id < early }}
		res := analyse(t, m.run(all(m.function("main", l), 8)...), Options{})
		want := m.last(l.latch)
		if atHead {
			want = m.last(l.head)
		}
		if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || res.Causes[0].Addr != want {
			t.Errorf("%d of 8 threads leave early: %+v, want %#x", early, res.Causes, uint64(want))
		}
	}
}

// A recursion leads to its call, from the branch that guards it.
func TestRecursionIsLocatedAtItsGuard(t *testing.T) {
	for _, c := range plantedPrograms() {
		if c.name != "recursion" {
			continue
		}
		p, guard, _ := c.build(8)
		res := analyse(t, p, Options{})
		var calls []profile.Addr
		for _, e := range p.Graph.Edges {
			if e.Kind == profile.Call && p.Graph.Blocks[e.From].Function == 0 {
				calls = append(calls, e.Site)
			}
		}
		if x := res.Causes[0]; x.Addr != guard || !slices.Contains(calls, x.To) {
			t.Errorf("%+v, want %#x → one of %#x", x, uint64(guard), calls)
		}
	}
}

// Nor is the guard what was decided in between, where both ways lead to the call: a test in
// the last round of a loop that was unrolled.
func TestWhatLeadsToACallAnywayGuardsNothing(t *testing.T) {
	m := newMachine()
	f := m.function("sort")
	depth := 0
	swaps := &when{cond: func(w *walker) bool { return depth%2 == 0 }, then: []stmt{&work{instructions: 2}}}
	guard := &when{cond: func(*walker) bool { return depth > 0 }, then: []stmt{swaps, &call{f: f}, &call{f: f}}}
	m.p.Graph.Blocks, m.p.Graph.Edges, m.p.Events = nil, nil, nil
	f.define(m, before(func() { depth-- }), guard, before(func() { depth++ }))
	main := m.function("main", beforeOf(func(w *walker) { depth = 4 + skew(w)%5 }), &call{f: f})
	res := analyse(t, m.run(all(main, 8)...), Options{})
	if len(res.Causes) == 0 || res.Causes[0].Leader != Recursion || res.Causes[0].Addr != m.last(guard.head) {
		t.Errorf("%+v, want the recursion at %#x, not at %#x", res.Causes, uint64(m.last(guard.head)), uint64(m.last(swaps.head)))
	}
}

func TestMembers(t *testing.T) {
	m := newMachine()
	heavy, light := &work{instructions: 50}, &work{instructions: 5}
	d := &when{cond: func(w *walker) bool { return w.iter < 40*skew(w) }, then: []stmt{light, heavy}}
	res := analyse(t, m.run(all(m.function("main", &repeat{trips: fixed(600), instructions: 1, body: []stmt{d}}), 8)...), Options{})
	var got []profile.Addr
	for _, x := range res.Causes[0].Members {
		if x.Corr < 0.999 || x.Kind != controlFlow {
			t.Errorf("member %+v", x)
		}
		got = append(got, x.Addr)
	}
	// Those that lead to the heavy block, to the light one, to the join.
	want := []profile.Addr{m.last(light.to), m.last(d.yes), m.last(heavy.to)}
	if !slices.Equal(got, want) {
		t.Errorf("members %#x, want %#x", got, want)
	}
}

func TestSiteCosts(t *testing.T) {
	a, b := []float64{1, 1, 1}, []float64{40, 0, 10}
	if got, _ := siteCosts([]float64{9000, 5000, 6000}, [][]float64{a, b}, []profile.ThreadID{0, 1, 2}, false); got == nil || !near6(got[0]/5000, 1) || !near6(got[1]/100, 1) {
		t.Errorf("got %v, want 5000 and 100", got)
	}
	for _, cost := range [][]float64{
		{9000, 5000, 6050}, // not exact, with few parts
		{1000, 5000, 4000}, // a call that would cost less than nothing
		{410, 10, 110},     // all alike: by calls is right
	} {
		if got, _ := siteCosts(cost, [][]float64{a, b}, []profile.ThreadID{0, 1, 2}, false); got != nil {
			t.Errorf("%v: got %v", cost, got)
		}
	}
}

// Two threads and two sites: there is always a solution, which is believed
// where equal costs are far off.
func TestSiteCostsOfTwoThreads(t *testing.T) {
	a, b := []float64{1, 1}, []float64{40, 0}
	if got, _ := siteCosts([]float64{9000, 5000}, [][]float64{a, b}, []profile.ThreadID{0, 1, 2}, false); got == nil || !near6(got[0]/5000, 1) || !near6(got[1]/100, 1) {
		t.Errorf("got %v, want 5000 and 100", got)
	}
	if got, _ := siteCosts([]float64{415, 10}, [][]float64{a, b}, []profile.ThreadID{0, 1, 2}, false); got != nil {
		t.Errorf("nearly alike: got %v", got)
	}
}

// Sites that are called in fixed proportions cannot be told apart, and need not be: what
// one of two costs more than the other is known, and none costs less than nothing. What a
// thread did again says nothing more.
func TestSiteCostsOfFewUnknowns(t *testing.T) {
	always, dear, cheap := []float64{16, 16, 16, 16}, []float64{0, 4, 8, 12}, []float64{16, 12, 8, 4}
	cost := make([]float64, 4)
	for p := range cost {
		cost[p] = 60*always[p] + 610*dear[p] + 10*cheap[p]
	}
	who := []profile.ThreadID{1, 2, 3, 4}
	got, proven := siteCosts(cost, [][]float64{always, dear, cheap}, who, false)
	if !proven || !near6((got[1]-got[2])/600, 1) || floats.Min(got) < 0 {
		t.Errorf("got %v, %v; want 600 between the second and the third", got, proven)
	}
	for p := range cost {
		cost[p] += float64(100 * (p % 2)) // not by who called where
	}
	if got, _ := siteCosts(cost, [][]float64{always, dear, cheap}, who, false); got != nil {
		t.Errorf("not by site: %v", got)
	}
	two := [][]float64{{5, 5, 5, 5}, {0, 3, 0, 3}}
	if got, proven := siteCosts([]float64{50, 350, 50, 350}, two, []profile.ThreadID{1, 2, 1, 2}, false); proven || got == nil {
		t.Errorf("two threads, twice: %v, %v", got, proven)
	}
	if _, proven := siteCosts([]float64{50, 350, 50, 350}, two, who, false); proven {
		t.Error("threads of two kinds prove what each took")
	}
	if _, proven := siteCosts([]float64{50, 350, 50, 350}, two, who, true); !proven {
		t.Error("calls of one instance: more parts than sites are enough")
	}
	two[1][1], two[1][2] = 6, 2 // 50 and 100 each
	if _, proven := siteCosts([]float64{50, 650, 250, 350}, two, who, false); !proven {
		t.Error("four threads prove nothing")
	}
	for p := range who { // what only one does says what that one took
		alone := [][]float64{{5, 6, 7, 8}, {0, 0, 0, 0}}
		alone[1][p] = 3
		cost := slices.Clone(alone[0])
		cost[p] += 300
		if _, proven := siteCosts(cost, alone, who, false); proven {
			t.Errorf("part %d alone proves something", p)
		}
	}
}

func TestFoldTailKeepsWhatWasLost(t *testing.T) {
	var instances []*instance
	total, most := 0.0, 0.0
	for i := range 100 {
		in := &instance{folded: 1, parts: make([]profile.Part, 4), response: []float64{1000, 1000, 1000, 900}}
		if i >= 60 {
			in.response = []float64{999, 1000, 1000, 1000}
		}
		in.measure()
		total, most = total+in.idle, most+in.longest
		instances = append(instances, in)
	}
	out := foldTail(0, instances)
	if len(out) != 61 || out[60].folded != 40 || !out[60].ranked {
		t.Fatalf("%d instances, the last of %d", len(out), out[len(out)-1].folded)
	}
	for _, in := range out {
		total, most = total-in.idle, most-in.longest
	}
	if total != 0 || most != 0 {
		t.Errorf("lost time off by %v, Σ max T by %v", total, most)
	}
	if got := foldTail(0, instances[:30]); len(got) != 30 {
		t.Errorf("30 instances became %d", len(got))
	}
	for _, in := range instances {
		in.parts, in.response = in.parts[:2], in.response[2:]
	}
	if got := foldTail(0, instances); len(got) != 33 {
		t.Errorf("of two threads %d instances", len(got))
	}
}

// Where another way into a block was not counted, its own count tells whether
// anyone took it.
func TestUncountedWayIn(t *testing.T) {
	for _, taken := range []bool{false, true} {
		m := newMachine()
		d := &when{
			cond: func(w *walker) bool { return taken && w.iter < 7 },
			or:   func(w *walker) bool { return w.iter < 10+5*w.id },
			then: []stmt{&work{instructions: 40}}}
		p := m.run(all(m.function("main", &repeat{trips: fixed(100), instructions: 2, body: []stmt{d}}), 4)...)
		first := m.edge[[2]profile.BlockID{d.head, d.yes}]
		p.Graph.Edges[first].Count = profile.NoEvent
		c := newCosts(newGraph(p), newTable(len(p.Events), &instance{folded: 1, parts: p.Sections[0].Instances[0].Parts}), nil, (*misses)(nil).following)
		if got := c.onlyWayIn(m.edge[[2]profile.BlockID{d.second, d.yes}]); got == taken {
			t.Errorf("taken %v: the only way in: %v", taken, got)
		}
	}
}

// Calls that the compiler copied ask for the same work: as calls of the source
// there are fewer of them than threads, and their costs can be told.
func TestSiteCostsOfCopies(t *testing.T) {
	parts, cheap, dear := 4, 300.0, 2500.0
	x, s := &callSites{}, &callShare{total: make([]float64, parts)}
	cost := make([]float64, parts)
	for e := range 10 {
		n := make([]float64, parts)
		for p := range n {
			switch {
			case e < 5:
				n[p] = float64(1 + (e+p)%3)
				cost[p] += cheap * n[p]
			case p == 3 || (e+p)%4 == 0:
				n[p] = float64(2 + e%2)
				cost[p] += dear * n[p]
			}
			s.total[p] += n[p]
		}
		x.add(site{profile.EventID(e), profile.EventID(e)}, int32(e/5*5), n)
	}
	x.solve(&table{parts: []profile.Part{{Thread: 0}, {Thread: 1}, {Thread: 2}, {Thread: 3}}}, s, cost, true, false)
	for e := range 10 {
		want := cheap
		if e >= 5 {
			want = dear
		}
		if got := s.costs[site{profile.EventID(e), profile.EventID(e)}]; !near6(got/want, 1) {
			t.Errorf("a call at site %d costs %v, want %v", e, got, want)
		}
	}
	// Two calls of different lines in one block cannot be told apart; they are a site of their own.
	y := &callSites{}
	y.add(site{0, 0}, 0, []float64{1, 1})
	y.add(site{0, 0}, 1, []float64{1, 1})
	y.add(site{1, 1}, 1, []float64{3, 0})
	if y.names[0] >= 0 || y.counts[0][0] != 2 || y.times[0] != 2 || y.names[1] != 1 {
		t.Errorf("%+v", y)
	}
}
