package scaling

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// all are recorded runs on 1, 2 and 4 cores, two of each.
func all(t *testing.T) (runs []*Recorded) {
	t.Helper()
	for _, p := range []int{1, 2, 4, 4, 2, 1} {
		runs = append(runs, recorded(t, p))
	}
	return runs
}

// Each section's core time adds up, and is divided exactly.
func TestSectionsAddUp(t *testing.T) {
	r := New(study(t))
	r.AddSections(all(t))
	if len(r.Sections) != 2 || r.Sections[0].ID != "owner.c:70" || r.Sections[1].ID != Outside || len(r.Recorded) != 3 || r.Recorded[2].Runs != 2 {
		t.Fatalf("%+v", r.Sections)
	}
	for _, s := range r.Sections {
		if len(s.Points) != 3 {
			t.Fatalf("%s: %+v", s.ID, s.Points)
		}
		for _, p := range s.Points {
			if !about(float64(p.P)*p.TimeS, *p.WorkS+*p.IdleS) || !about(*p.InflationS, *p.WorkS-s.Points[0].TimeS) {
				t.Errorf("%s on %d cores: %v s, work %v, idle %v, inflation %v", s.ID, p.P, p.TimeS, *p.WorkS, *p.IdleS, *p.InflationS)
			}
			height, core := 0.0, 0.0
			for _, c := range p.Stack {
				height, core = height+c.Speedup, core+c.CoreS
				if c.How == "" {
					t.Errorf("%s does not say how it was obtained", c.Name)
				}
			}
			if !about(height, float64(p.P)) || !about(core, float64(p.P)*p.TimeS) {
				t.Errorf("%s on %d cores: %v high, %v s of core time: %+v", s.ID, p.P, height, core, p.Stack)
			}
		}
	}
	// t − t_lb of the slowest is 0.82 of 0.86 s; the others need 0.2, 0.4 and 0.6 s less.
	last := r.Sections[0].Points[2]
	for name, want := range map[string]float64{"idle-sync": .16, "idle-imbalance": 1.2, "idle-own": .08} {
		k := slices.IndexFunc(last.Stack, func(c Component) bool { return c.Name == name })
		if k < 0 || !about(last.Stack[k].CoreS, want) {
			t.Errorf("no %s of %v in %+v", name, want, last.Stack)
		}
	}
	if r.Sections[0].Main != "idle-imbalance" && r.Sections[0].Main != "inflation" || len(last.Waits) != 3 || last.Waits[0].Kind != "barrier" {
		t.Errorf("%s, %+v", r.Sections[0].Main, last.Waits)
	}
	if out := r.Sections[1].Points[2].Stack; out[len(out)-2].Name != "idle-sync" && out[len(out)-1].Name != "idle-none" {
		t.Errorf("%+v", out)
	}
}

// What was not met on one core is not compared; what was not met in each run on some
// number of cores is left out there; of several sections on a line the calls tell which.
func TestSectionsThatAreNotEverywhere(t *testing.T) {
	r := New(study(t))
	runs := all(t)
	runs[0].sections, runs[2].sections = nil, nil
	r.AddSections(runs)
	s := r.Sections[0]
	if len(s.Points) != 1 || s.Points[0].P != 2 || s.Points[0].InflationS != nil || s.Points[0].Speedup.Actual != nil || s.Points[0].Stack[0].Name != "work" || s.Main == "scales" {
		t.Errorf("%+v", s)
	}
	twice := func(p int) *Recorded {
		x := meetings(p)
		y := x.Sections[0]
		y.Site, y.Callers = 0x1004, []profile.Addr{0x2000}
		x.Locations = slices.Insert(x.Locations, 1, profile.Location{Address: 0x1004, Frame: x.Locations[0].Frame})
		x.Sections = append(x.Sections, y)
		rec, err := NewRecorded(x, p, 3, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	r.AddSections([]*Recorded{twice(1), twice(2)})
	if len(r.Sections) != 2 || len(r.Sections[0].Points) != 2 || len(r.Sections[1].Points) != 2 || r.Sections[0].ID == r.Sections[1].ID {
		t.Errorf("%+v", r.Sections)
	}
	r.AddSections([]*Recorded{twice(1), recorded(t, 2)})
	for _, s := range r.Sections {
		if len(s.Points) == 2 && len(s.Callers) > 0 {
			t.Errorf("taken for one: %+v", s)
		}
	}
}

// Where threads are more than cores, idle time is not divided.
func TestSectionsOfManyThreads(t *testing.T) {
	r := New(study(t))
	x, err := NewRecorded(meetings(3), 2, 1.28, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	r.AddSections([]*Recorded{recorded(t, 1), x})
	for _, s := range r.Sections {
		if s.ID == "owner.c:70" && (len(s.Points) != 2 || s.Points[1].Stack[len(s.Points[1].Stack)-1].Name != "idle") {
			t.Errorf("%+v", s.Points)
		}
	}
}

// Waits of all sections are means of runs, by kind, by line, and by thread.
func TestWaitsOfRecordedRuns(t *testing.T) {
	w := WaitsOf([]*Recorded{recorded(t, 4), recorded(t, 4)}, 4)
	if w == nil || w.Runs != 2 || !about(*w.TimeS, .96) || !about(*w.IdleS, 4*.96-2.08) || len(w.Kinds) != 3 || w.Kinds[0].Kind != "barrier" || !about(w.Kinds[0].Seconds, 1.2) || !about(w.Kinds[1].Seconds, .16) {
		t.Fatalf("%+v", w)
	}
	sum := map[string]float64{}
	for _, b := range w.ByThread {
		sum[b.Kind] += b.Seconds
		if b.Thread == nil || *b.Thread < 1 || *b.Thread > 4 || b.Kind == "lock" && (b.Times != 8 || b.Location == nil || b.Location.Line != 60) {
			t.Errorf("%+v", b)
		}
	}
	for _, k := range w.Kinds {
		if !about(sum[k.Kind], k.Seconds) {
			t.Errorf("threads waited %v by %s, in all %v", sum[k.Kind], k.Kind, k.Seconds)
		}
	}
	if w.SpinS != nil {
		t.Errorf("spun for %v", *w.SpinS)
	}
	spinning := recorded(t, 4) // 2 s in the section, 0.1 s of time outside
	if spinning.CPUS = 2.9; !about(*WaitsOf([]*Recorded{spinning}, 4).SpinS, .8) {
		t.Errorf("spun for %v", spinning.spun())
	}
	if spinning.sections[0].timed = false; WaitsOf([]*Recorded{spinning}, 4).SpinS != nil {
		t.Error("it is not known how long it worked")
	}
	if first := w.ByThread[0]; *first.Thread != 1 || first.Kind != "barrier" || !about(first.Seconds, .6) || first.Location.Line != 70 {
		t.Errorf("%+v", first)
	}
}

// Dividing leaves the sum as it is.
func TestInflationIsDivided(t *testing.T) {
	s := study(t)
	r := New(s)
	d := studyInput().Divide(4, runs(5, 8.4, 8.4, 0), runs(5, 8, 8, 0))
	r.DivideInflation(d, 5)
	_, core, _ := sums(&r.Points[2])
	var names []string
	for _, c := range r.Points[2].Stack {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "speedup overhead inflation-threads inflation-beside idle" || math.Abs(core-4*r.Points[2].TimeS) > 1e-9 {
		t.Errorf("%s, %v", got, core)
	}
	if x := r.Together; x == nil || x.Uncertain || !about(x.ThreadsS, .4) || !about(x.ThreadsS+x.BesideS, *r.Points[2].InflationS) || x.Runs != 5 {
		t.Errorf("%+v", x)
	}
	d.P = 3
	if r.Together = nil; r.Together != nil {
		t.Error("not there")
	}
	if r.DivideInflation(d, 5); r.Together != nil {
		t.Error("of a point that is not there")
	}
}

// Inflation is divided by what a section's threads work when they take turns; where it was
// not met on one core, that is what its speedup is over.
func TestSectionsByTurns(t *testing.T) {
	turns := recorded(t, 4)
	turns.Turns = true
	*turns.sections[0].run.CPU, turns.sections[0].slowest.Work = 1.5, 1.5
	runs := append(all(t), turns)
	r := New(study(t))
	r.AddSections(runs)
	s := r.Sections[0]
	last := s.Points[2]
	if s.Against != "one" || last.TurnsS == nil || !about(*last.TurnsS, 1.5) || s.Points[1].TurnsS != nil {
		t.Fatalf("%+v", s)
	}
	for name, want := range map[string]float64{"speedup": .26, "inflation-threads": 1.24, "inflation-beside": .5} {
		k := slices.IndexFunc(last.Stack, func(c Component) bool { return c.Name == name })
		if k < 0 || !about(last.Stack[k].CoreS, want) {
			t.Errorf("no %s of %v in %+v", name, want, last.Stack)
		}
	}
	if Incomparable(runs) {
		t.Error("all were met on one core")
	}
	var without []*Recorded
	for _, x := range runs {
		if x.P > 1 {
			without = append(without, x)
		}
	}
	if !Incomparable(without) {
		t.Error("none was met on one core")
	}
	r.AddSections(without)
	s = r.Sections[0]
	last = s.Points[len(s.Points)-1]
	if s.Against != "turns" || len(s.Points) != 2 || last.Stack[0].Name != "speedup" || last.Stack[1].Name != "inflation-beside" || !about(last.Stack[1].CoreS, .5) || !about(*last.Speedup.Actual, 1.5/.86) {
		t.Errorf("%+v", s)
	}
}

// A section that has much less to do than on one core is another piece of the program: of
// which others have the rest is not known, so none is compared with that.
func TestSectionsThatAreNotTheSame(t *testing.T) {
	runs := all(t)
	for _, x := range runs {
		if x.P == 1 {
			x.sections[0].run.CPU, x.sections[0].slowest.Work = &x.sections[0].slowest.Work, 9
		}
	}
	if !Incomparable(runs) {
		t.Error("a section that shrinks")
	}
	r := New(study(t))
	r.AddSections(runs)
	for _, s := range r.Sections {
		if s.Against != "" || s.Points[0].P == 1 || s.Points[0].Speedup.Actual != nil {
			t.Errorf("%+v", s)
		}
	}
	other := all(t)
	other[0].sections[0].key.at = "elsewhere"
	if !Incomparable(other) || Incomparable(nil) || Incomparable(other[:1]) {
		t.Error("a section that is on one core only")
	}
}

// What is done by children is not recorded: then runs take as long, and work less. One
// that is faster has nothing missing, nor has one that takes longer to begin.
func TestWhatIsNotRecorded(t *testing.T) {
	r := New(study(t)) // 8 s of CPU time in 8 s
	for _, c := range []struct {
		cpu, time float64
		missing   bool
	}{{1, 8, true}, {4, 4, false}, {8, 16, false}, {8, 8, false}} {
		if err := r.Unseen([]*Recorded{{P: 1, CPUS: c.cpu, TimeS: c.time}, {P: 2, CPUS: .1, TimeS: 1}}); (err != nil) != c.missing {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := r.Unseen(nil); err != nil {
		t.Error(err)
	}
}
