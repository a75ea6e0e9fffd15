package lime

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// selfScheduledProgram is a loop whose trips are whatever each thread could
// take, with one huge piece among them; deals: by its code it takes them from
// a store that all share.
func selfScheduledProgram(trips []int, huge int, deals bool) (p *profile.Profile, branch profile.Addr) {
	m := newMachine()
	big := &when{cond: func(w *walker) bool { return w.id == huge && w.iter == 0 }, then: []stmt{&work{instructions: 5000}}}
	l := &repeat{trips: func(w *walker) int { return trips[w.id] }, instructions: 3, body: []stmt{&work{instructions: 100}, big}}
	p = m.run(all(m.function("main", l), len(trips))...)
	p.Graph.Blocks[l.latch].Deals = deals
	return p, m.last(big.head)
}

func has(ws []profile.Warning, code string) bool {
	return slices.ContainsFunc(ws, func(w profile.Warning) bool { return w.Code == code })
}

// TestSelfScheduled: where threads take their work themselves, how much each
// took is no cause; a huge piece is (rule 19).
func TestSelfScheduled(t *testing.T) {
	trips := []int{70, 10, 95, 40, 120, 64, 81, 33}
	p, _ := selfScheduledProgram(trips, -1, false)
	res, err := Analyse(p, &p.Sections[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Causes) != 1 || res.Causes[0].Leader != Loop || has(res.Warnings, "self-scheduled") {
		t.Errorf("a loop that does not deal is a cause: %+v %v", res.Causes, res.Warnings)
	}
	p, _ = selfScheduledProgram(trips, -1, true)
	if res, err = Analyse(p, &p.Sections[0], Options{}); err != nil {
		t.Fatal(err)
	}
	if len(res.Causes) != 0 || !has(res.Warnings, "self-scheduled") || has(res.Warnings, "low-r2") {
		t.Errorf("pieces of one size: %+v %v", res.Causes, res.Warnings)
	}
	p, at := selfScheduledProgram(trips, 3, true)
	if res, err = Analyse(p, &p.Sections[0], Options{}); err != nil {
		t.Fatal(err)
	}
	if len(res.Causes) != 1 || res.Causes[0].Addr != at || !has(res.Warnings, "self-scheduled") {
		t.Errorf("one huge piece: %+v %v", res.Causes, res.Warnings)
	}
}

// TestOneTookAll: whether one's pieces are larger than others cannot be seen, but
// that the others had none is chance, unless there was only one.
func TestOneTookAll(t *testing.T) {
	for _, c := range []struct{ taken, cost, want []float64 }{
		{[]float64{0, 9, 0}, []float64{0, 90, 0}, []float64{0, 90, 0}},
		{[]float64{0, 1, 0}, []float64{0, 90, 0}, []float64{0, 0, 0}},
		{[]float64{2, 9, 0}, []float64{20, 900, 0}, []float64{20, 90, 0}},
	} {
		if got := equalPieces(c.taken, c.cost); !slices.Equal(got, c.want) {
			t.Errorf("%v pieces of %v cost %v", c.taken, c.cost, got)
		}
	}
}

// TestUnevenPieces: all took as many, some of them large ones: which is the cause,
// and chance all the same.
func TestUnevenPieces(t *testing.T) {
	for _, deals := range []bool{true, false} {
		large := []int{1, 4, 0, 2, 7, 3, 1, 5}
		m := newMachine()
		big := &when{cond: func(w *walker) bool { return w.iter < large[w.id] }, then: []stmt{&work{instructions: 900}}}
		task := m.function("task", &work{instructions: 100}, big)
		l := &repeat{trips: func(*walker) int { return 20 }, instructions: 3, body: []stmt{&call{f: task}}}
		p := m.run(all(m.function("main", l), len(large))...)
		p.Graph.Blocks[l.latch].Deals = deals
		res, err := Analyse(p, &p.Sections[0], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Causes) != 1 || res.Causes[0].Addr != m.last(big.head) || has(res.Warnings, "self-scheduled") != deals {
			t.Errorf("deals %v: %+v %v", deals, res.Causes, res.Warnings)
		}
	}
}

// TestEmptyRounds: who is woken and finds that another one has taken the work
// goes round once more for nothing; that is no difference between the pieces.
func TestEmptyRounds(t *testing.T) {
	trips := []int{70, 30, 95, 40, 120, 64, 81, 33}
	empty := []int{0, 60, 10, 2, 70, 9, 1, 15}
	m := newMachine()
	task := &when{cond: func(w *walker) bool { return w.iter >= empty[w.id] }, then: []stmt{&work{instructions: 400}}}
	l := &repeat{trips: func(w *walker) int { return trips[w.id] + empty[w.id] }, instructions: 3, body: []stmt{task}}
	p := m.run(all(m.function("main", l), len(trips))...)
	p.Graph.Blocks[l.latch].Deals = true
	res, err := Analyse(p, &p.Sections[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Causes) != 0 || !has(res.Warnings, "self-scheduled") {
		t.Errorf("%+v %v", res.Causes, res.Warnings)
	}
}

// TestRoundsThatFindNothing: the loop goes on until something else says that all
// is done, and what was taken decides whether a round has a piece. Who found most
// is chance, unless what was taken only goes beside what each does anyway; also
// who found something at all, where the test before the loop is the loop's own.
func TestRoundsThatFindNothing(t *testing.T) {
	found := []int{30, 11, 70, 24, 55, 18, 90, 42}
	late := []int{30, 0, 31, 0, 0, 29, 0, 30}
	for _, c := range []struct {
		name   string
		found  []int
		beside bool // each round does its work, whatever was taken
		other  bool // the test before the loop is on a line of its own
		want   bool
	}{
		{name: "stealing", found: found, want: true},
		{name: "a maximum kept under a lock", found: found, beside: true},
		{name: "some come too late", found: late, want: true},
		{name: "some never begin", found: late, other: true},
	} {
		m := newMachine()
		task := m.function("task", &work{instructions: 400})
		piece := &when{cond: func(w *walker) bool { return w.iter < c.found[w.id] }, then: []stmt{&call{f: task}}}
		body, trips := []stmt{piece}, func(*walker) int { return 50 }
		if c.beside {
			piece.cond, piece.then = func(w *walker) bool { return w.iter%7 == 0 }, []stmt{&work{instructions: 2}}
			body, trips = append(body, &call{f: task}), func(w *walker) int { return c.found[w.id] }
		}
		l := &repeat{trips: trips, instructions: 3, body: body}
		before := &when{cond: func(w *walker) bool { return c.found[w.id] > 0 }, then: []stmt{l}}
		p := m.run(all(m.function("main", before), len(found))...)
		p.Graph.Blocks[piece.head].Deals = true
		for i := range p.Graph.Blocks {
			b := &p.Graph.Blocks[i]
			line := 10 + i
			if b.Last == m.last(l.latch) || b.Last == m.last(before.head) && !c.other {
				line = 1
			}
			p.Locations = append(p.Locations, profile.Location{Address: b.Last, Frame: profile.Frame{File: "a.c", Line: line}})
		}
		res, err := Analyse(p, &p.Sections[0], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Causes) != 1 || has(res.Warnings, "self-scheduled") != c.want {
			t.Errorf("%s: %+v %v", c.name, res.Causes, res.Warnings)
		}
	}
}

// TestPlaceNames: a place has the name that reports give it.
func TestPlaceNames(t *testing.T) {
	p := &profile.Profile{
		Program: profile.Program{Libraries: []profile.Library{{Path: "/usr/lib/libx.so.1", Base: profile.LibraryStep}}},
		Locations: []profile.Location{
			{Address: 0x10, Frame: profile.Frame{File: "/a/b.c", Line: 7, Function: "f"}},
			{Address: 0x20, Frame: profile.Frame{Function: "g"}, SymbolOffset: 5},
		},
	}
	for at, want := range map[profile.Addr]string{0x10: "b.c:7", 0x20: "g+0x5", 0x30: "0x30", profile.LibraryStep + 0x40: "libx.so.1+0x40"} {
		if got := placeName(p, at); got != want {
			t.Errorf("%#x is %s", uint64(at), got)
		}
	}
}

// TestSameEachTime: threads that take what was put there for each of them do the
// same in each instance.
func TestSameEachTime(t *testing.T) {
	uneven, _ := selfScheduledProgram([]int{70, 10, 95, 40}, -1, true)
	alike, _ := selfScheduledProgram([]int{200, 199, 202, 201}, -1, true) // by chance
	turned := func(one *profile.Instance, n int) profile.Instance {
		in := profile.Instance{Folded: 1}
		for k := range one.Parts {
			q := one.Parts[k]
			q.Counts = one.Parts[(k+n)%len(one.Parts)].Counts
			in.Parts = append(in.Parts, q)
		}
		return in
	}
	for _, c := range []struct {
		name  string
		p     *profile.Profile
		turns []int
		want  bool
	}{
		{"too few", uneven, []int{0, 0, 0, 0}, false}, {"the same", uneven, []int{0, 0, 0, 0, 0}, true}, {"in turn", uneven, []int{0, 1, 2, 3, 0, 1, 2, 3}, false},
		{"once another", uneven, []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, true},
		{"alike, the same", alike, []int{0, 0, 0, 0, 0}, true}, {"alike, in turn", alike, []int{0, 1, 2, 3, 0, 1, 2, 3}, false},
	} {
		s := profile.Section{}
		for _, n := range c.turns {
			s.Instances = append(s.Instances, turned(&c.p.Sections[0].Instances[0], n))
		}
		if got := sameEachTime(c.p, &s); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestEndlessDeals: who goes round for ever, and takes what there is to do in the middle of
// that, is in a loop that nothing leaves.
func TestEndlessDeals(t *testing.T) {
	for _, endless := range []bool{true, false} {
		m := newMachine()
		trips := []int{70, 10, 95, 40, 120, 64, 81, 33}
		some := &when{cond: func(*walker) bool { return true }, then: []stmt{&work{instructions: 5}}}
		l := &repeat{trips: func(w *walker) int { return trips[w.id] }, instructions: 3, body: []stmt{some, &work{instructions: 100}}}
		p := m.run(all(m.function("main", l), len(trips))...)
		p.Graph.Blocks[some.head].Deals = true
		for i := range p.Graph.Edges {
			if e := &p.Graph.Edges[i]; endless && e.From == l.latch && e.To != l.head {
				e.From = profile.NoBlock
			}
		}
		res, err := Analyse(p, &p.Sections[0], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (len(res.Causes) == 0) != endless || has(res.Warnings, "self-scheduled") != endless {
			t.Errorf("endless: %v: %+v %v", endless, res.Causes, res.Warnings)
		}
	}
}

// TestAllDeals: of a function that does nothing but deal, as of a library's pool, no branch is
// a cause, whether or not a loop is left by it.
func TestAllDeals(t *testing.T) {
	for _, deals := range []bool{false, true} {
		m := newMachine()
		some := &when{cond: func(w *walker) bool { return w.iter%(w.id+2) == 0 }, then: []stmt{&work{instructions: 100}}}
		l := &repeat{trips: func(*walker) int { return 60 }, instructions: 3, body: []stmt{some}}
		p := m.run(all(m.function("main", l), 8)...)
		for i := range p.Graph.Blocks {
			p.Graph.Blocks[i].Deals = deals
		}
		res, err := Analyse(p, &p.Sections[0], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (len(res.Causes) == 0) != deals {
			t.Errorf("all deals: %v, and the causes are %+v", deals, res.Causes)
		}
		if d := (join{outcome{block: some.head, to: some.yes}}); newGraph(p).deals(d) != deals {
			t.Errorf("all deals: %v, and a choice that leads on by several ways does so: %v", deals, !deals)
		}
	}
}

// TestRuntimeDecides: what a runtime's own code decides is no cause, however the threads differ
// there; the same in the program's own is one.
func TestRuntimeDecides(t *testing.T) {
	for _, runtime := range []bool{true, false} {
		m := newMachine()
		split := &when{cond: func(w *walker) bool { return w.id > 5 }, then: []stmt{&work{instructions: 4000}}}
		p := m.run(all(m.function("main", split), 8)...)
		p.Graph.Blocks[split.head].Runtime = runtime
		if res := analyse(t, p, Options{}); len(res.Causes) > 0 == runtime {
			t.Errorf("a runtime's %v: %+v", runtime, res.Causes)
		}
	}
}
