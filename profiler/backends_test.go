package profiler

import (
	"context"
	"debug/dwarf"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
)

// fake is a backend that runs nothing.
type fake struct {
	name   string
	counts []backend.Events
	run    func(backend.Job) (*backend.Outcome, error)
}

func (f fake) Name() string { return f.name }

func (f fake) Check(events []backend.Events) error {
	for _, e := range events {
		if !slices.Contains(f.counts, e) {
			return fmt.Errorf("%s cannot count %s; use another", f.name, e)
		}
	}
	return nil
}

func (f fake) Run(j backend.Job) (*backend.Outcome, error) { return f.run(j) }

// fails is a backend's Run that returns an error.
func fails(err error) func(backend.Job) (*backend.Outcome, error) {
	return func(backend.Job) (*backend.Outcome, error) { return nil, err }
}

// place is Lines that make up what they say.
type place struct{}

func (place) Locate(a profile.Addr) profile.Location      { return at("line of", a) }
func (place) Statement(from, _ profile.Addr) profile.Addr { return from }
func (place) Entry(a profile.Addr) profile.Location       { return at("function at", a) }
func (place) Key(a profile.Addr) string                   { return fmt.Sprint(a) }
func (place) Add(string, bool) error                      { return nil }
func (place) Debug() (*dwarf.Data, []byte)                { return nil, nil }
func (place) Warnings() []profile.Warning {
	return []profile.Warning{{Code: "no-lines", Message: "these lines are made up"}}
}

func at(what string, a profile.Addr) profile.Location {
	return profile.Location{Address: a, Frame: profile.Frame{Function: fmt.Sprintf("%s %#x", what, uint64(a))}}
}

const library = profile.LibraryStep

// found is what a backend could find out about a program and its library: two
// threads that met once, at 0x1018; where the second one began only its counts
// tell. A miss was counted at 0x1014; what is at 0x1020 never ran.
func found() *backend.Outcome {
	block := func(f profile.FunctionID, start profile.Addr, count profile.EventID) profile.Block {
		return profile.Block{Function: f, Start: start, Last: start + 8, End: start + 16, Instructions: 3, Count: count}
	}
	p := &profile.Profile{
		Program: profile.Program{Path: "/nowhere/prog", Args: []string{"8"}, Libraries: []profile.Library{{Path: "/nowhere/lib.so", Base: library}}},
		Run:     profile.Run{WallNS: 5},
		Graph: profile.Graph{
			Functions: []profile.Function{{Name: "main", Entry: 0x1000, End: 0x1030, N: 3}, {Name: "work", Entry: library + 0x100, End: library + 0x110, First: 3, N: 1, EntryBlock: 3}},
			Blocks:    []profile.Block{block(0, 0x1000, 0), block(0, 0x1010, profile.NoEvent), block(0, 0x1020, 1), block(1, library+0x100, 2)},
			Edges: []profile.Edge{
				{From: 0, To: 2, Kind: profile.Taken, Site: 0x1008, Count: profile.NoEvent},
				{From: profile.NoBlock, To: 3, Kind: profile.Start, Count: 3},
				{From: 0, To: 1, Kind: profile.Call, Site: 0x1004, Count: 0},
			},
		},
		Events: []profile.Event{
			{Kind: profile.BlockEntered, Block: 0, Addr: 0x1000, Superior: profile.NoEvent},
			{Kind: profile.BlockEntered, Block: 2, Addr: 0x1020, Superior: profile.NoEvent},
			{Kind: profile.BlockEntered, Block: 3, Addr: library + 0x100, Superior: profile.NoEvent},
			{Kind: profile.EdgeTaken, Block: profile.NoBlock, Edge: 1, Addr: library + 0x100, Superior: profile.NoEvent},
			{Kind: profile.Hardware, Block: 1, Name: "l1d-miss", Addr: 0x1014, Superior: profile.NoEvent},
		},
	}
	first := profile.Counts{Event: []profile.EventID{0}, N: []uint64{7}}
	second := profile.Counts{Event: []profile.EventID{2, 3, 4}, N: []uint64{2, 1, 9}}
	p.Threads = []profile.Thread{{ID: 0, Totals: first}, {ID: 1, Totals: second}}
	p.Sections = []profile.Section{{Kind: profile.Barrier, Site: 0x1018, Instances: []profile.Instance{{Folded: 1, Parts: []profile.Part{
		{Thread: 0, Site: 0x1018, Counts: first}, {Thread: 1, Begin: library + 0x100, Site: 0x1019, Counts: second}}}}}}
	return &backend.Outcome{Profile: p, Lines: place{}, Modules: []backend.Module{
		{Coverage: profile.Coverage{Functions: 2, FunctionsTotal: 3, Instructions: 20, InstructionsTotal: 25, Skipped: []profile.Skipped{{Function: "odd", Reason: "too odd"}}},
			Begins: func(a profile.Addr) bool { return a == 0x1000 }},
		{Coverage: profile.Coverage{Functions: 1, FunctionsTotal: 1, Instructions: 3, InstructionsTotal: 3}, Begins: func(a profile.Addr) bool { return a == 0x100 }},
	}}
}

// TestNewBackend: a backend needs nothing but its entry in the table to make
// profiles that are as whole as any.
func TestNewBackend(t *testing.T) {
	var job backend.Job
	table := []backend.Backend{fake{"model", []backend.Events{backend.Edges, backend.Cache}, func(j backend.Job) (*backend.Outcome, error) {
		job = j
		im, _, err := j.Open(j.Path)
		if err != nil || im.Entry == 0 {
			t.Errorf("opened %+v, %v", im, err)
		}
		j.Progress(3*time.Second, 2, 1)
		return found(), nil
	}}}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var progress Progress
	p, err := run(context.Background(), Config{Path: "true", Name: "yes", Args: []string{"a"}, Env: []string{"X=1"}, Dir: "/", Backend: "model", Events: []string{"edges", "cache"},
		Stdout: null, Libraries: []string{"libx*"}, FollowExec: true, Analyses: "kept", Probe: "no-tree", Progress: func(x Progress) { progress = x }}, table)
	if err != nil {
		t.Fatal(err)
	}

	if !strings.HasPrefix(job.Path, "/") || job.Name != "yes" || !slices.Equal(job.Args, []string{"a"}) || !slices.Equal(job.Env, []string{"X=1"}) || job.Dir != "/" ||
		job.Files != [3]uintptr{0, null.Fd(), 2} || !slices.Equal(job.Events, []backend.Events{backend.Edges, backend.Cache}) ||
		!slices.Equal(job.Libraries, []string{"libx*"}) || !job.FollowExec || job.Analyses != "kept" || job.Probe != "no-tree" || job.Testing != (backend.Testing{}) {
		t.Errorf("the job is %+v", job)
	}
	if progress != (Progress{3 * time.Second, 2, 1}) {
		t.Errorf("progress %+v", progress)
	}

	if want := (profile.Run{Backend: "model", WallNS: 5, Cores: runtime.NumCPU()}); p.Run != want {
		t.Errorf("run %+v, want %+v", p.Run, want)
	}
	if want := (profile.Coverage{Functions: 3, FunctionsTotal: 4, Instructions: 23, InstructionsTotal: 28, Skipped: []profile.Skipped{{Function: "odd", Reason: "too odd"}}}); !reflect.DeepEqual(p.Coverage, want) {
		t.Errorf("coverage %+v, want %+v", p.Coverage, want)
	}
	if got := p.Threads[1].Start; got != library+0x100 {
		t.Errorf("the second thread began in %#x", uint64(got))
	}
	want := []profile.Location{at("function at", 0x1000), at("line of", 0x1004), at("line of", 0x1008), at("line of", 0x1014), at("line of", 0x1018), at("line of", 0x1019),
		at("function at", library+0x100), at("line of", library+0x108)}
	if !reflect.DeepEqual(p.Locations, want) {
		t.Errorf("locations\n%+v\nwant\n%+v", p.Locations, want)
	}
	if want := (place{}).Warnings(); !reflect.DeepEqual(p.Warnings, want) {
		t.Errorf("warnings %+v, want %+v", p.Warnings, want)
	}
}

// TestJobOfLittle: what a configuration leaves open.
func TestJobOfLittle(t *testing.T) {
	c := Config{Path: "prog"}
	j := c.job()
	if j.Name != "prog" || !slices.Equal(j.Env, os.Environ()) || j.Files != [3]uintptr{0, 1, 2} || !slices.Equal(j.Events, []backend.Events{backend.Edges}) || j.Progress != nil {
		t.Errorf("the job is %+v", j)
	}
	c = Crowded(c)
	if !c.job().Testing.HoldSome {
		t.Error("what a test asks for does not reach the backend")
	}
}

func TestChooseBackend(t *testing.T) {
	table := []backend.Backend{fake{name: "quick", counts: []backend.Events{backend.Edges}}, fake{name: "able", counts: []backend.Events{backend.Edges, backend.Cache}}}
	for _, c := range []struct{ name, events, want, err string }{
		{"auto", "edges", "quick able", ""},
		{"", "edges", "quick able", ""},
		{"auto", "edges,cache", "able", ""},
		{"able", "edges", "able", ""},
		{"quick", "edges,cache", "", "quick cannot count cache; use another"},
		{"auto", "moons", "", "quick cannot count moons; use another"},
		{"none", "edges", "", `backend "none" is not built in; use --backend quick or able`},
	} {
		var events []backend.Events
		for _, e := range strings.Split(c.events, ",") {
			events = append(events, backend.Events(e))
		}
		got, err := choose(table, c.name, events)
		if err != nil || c.err != "" {
			if fmt.Sprint(err) != c.err {
				t.Errorf("%s, %s: error %v, want %s", c.name, c.events, err, c.err)
			}
			continue
		}
		var names []string
		for _, b := range got {
			names = append(names, b.Name())
		}
		if s := strings.Join(names, " "); s != c.want {
			t.Errorf("%s, %s: %s, want %s", c.name, c.events, s, c.want)
		}
	}
}

// TestUnavailable: where one backend cannot profile a program the next one
// does, but not once something has run.
func TestUnavailable(t *testing.T) {
	missing := fake{"missing", nil, fails(fmt.Errorf("prepare: %w", &backend.Unavailable{Err: errors.New("not installed; install it")}))}
	alsoMissing := fake{"other", nil, fails(&backend.Unavailable{Err: errors.New("not here either")})}
	broken := fake{"broken", nil, fails(errors.New("it broke half-way"))}
	works := fake{"works", nil, func(backend.Job) (*backend.Outcome, error) { return found(), nil }}
	for _, c := range []struct {
		able    []backend.Backend
		by, err string
	}{
		{[]backend.Backend{missing, works}, "works", ""},
		{[]backend.Backend{works, broken}, "works", ""},
		{[]backend.Backend{broken, works}, "", "it broke half-way"},
		{[]backend.Backend{missing, alsoMissing}, "", "prepare: not installed; install it"},
	} {
		o, by, err := try(c.able, backend.Job{})
		if by != c.by || (o != nil) != (c.by != "") || c.err != "" && fmt.Sprint(err) != c.err {
			t.Errorf("by %q, error %v; want %q, %q", by, err, c.by, c.err)
		}
	}
}

// TestRunErrors: what fails is said, and nothing is returned.
func TestRunErrors(t *testing.T) {
	contradictory := func(backend.Job) (*backend.Outcome, error) {
		o := found()
		o.Profile.Threads[0].Totals.N[0] = 0
		return o, nil
	}
	for _, c := range []struct {
		config Config
		run    func(backend.Job) (*backend.Outcome, error)
		want   string
	}{
		{Config{Path: "true", Backend: "perf"}, nil, `backend "perf" is not built in`},
		{Config{Path: "true", Events: []string{"cache"}}, nil, "cannot count cache"},
		{Config{Path: "/nowhere/prog"}, nil, "no such file"},
		{Config{Path: "true"}, fails(errors.New("it broke")), "it broke"},
		{Config{Path: "true"}, contradictory, "the fake backend's profile of /nowhere/prog contradicts itself"},
	} {
		p, err := run(context.Background(), c.config, []backend.Backend{fake{"fake", []backend.Events{backend.Edges}, c.run}})
		if p != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: profile %v, error %v, want %s", c.config, p, err, c.want)
		}
	}
	if _, err := Run(context.Background(), Config{Path: "true", Events: []string{"edges", "cycles"}}); err == nil || !strings.Contains(err.Error(), "--events edges") {
		t.Errorf("the native backend counts cycles: %v", err)
	}
}

// TestWarnings: each doubt has its words, in this order.
func TestWarnings(t *testing.T) {
	o := found()
	if w := warnings(o); len(w) != 1 {
		t.Errorf("without a doubt: %+v", w)
	}
	o.Profile.Sections = nil
	o.Profile.Run.Signal = "SIGSEGV"
	o.Doubts = backend.Doubts{Exec: backend.Exec{Replaced: []string{"env", "sh"}, By: "other"}, Contradictory: []string{"f", "g"}, LostTargets: 3, Crashed: true,
		Others: []profile.Warning{{Code: "library", Message: "of its own"}}}
	expectWarnings(t, o, "exec: this is the profile of the program that took the place of env and then sh", "exec: /nowhere/prog replaced itself by other (exec); what came after is not in this profile, but with --follow-exec",
		"inconsistent-counts: the counts of 2 functions contradict each other and are left out, first f", "indirect-targets: 3 calls", "no-sections: no two threads met",
		"crashed: the program was ended by SIGSEGV", "library: of its own", "no-lines: ")
	o = found()
	o.Profile.Run.Cores = len(o.Profile.Threads)
	o.Profile.Threads[1].CPUNS += 300e6
	o.Doubts = backend.Doubts{QueuedNS: 900e6}
	expectWarnings(t, o, "disturbed: threads that could have run had no core for 7", "no-lines: ")
	for _, queued := range []int64{19e6, 90e6} { // in all, and of that time
		o.Doubts.QueuedNS = queued
		expectWarnings(t, o, "no-lines: ")
	}
	o.Doubts.QueuedNS, o.Profile.Run.Cores = 900e6, len(o.Profile.Threads)-1 // each other's
	expectWarnings(t, o, "no-lines: ")
	o.Profile.Sections, o.Profile.Threads = nil, o.Profile.Threads[:1]
	o.Doubts = backend.Doubts{Exec: backend.Exec{By: "other", Refused: errors.New("too odd")}}
	expectWarnings(t, o, "exec: /nowhere/prog replaced itself by another program (exec), which could not be profiled; what came after is not in this profile: too odd",
		"one-thread: the program ran a single thread", "no-lines: ")
}

func expectWarnings(t *testing.T, o *backend.Outcome, want ...string) {
	t.Helper()
	got := warnings(o)
	if len(got) != len(want) {
		t.Errorf("%d warnings, want %d: %+v", len(got), len(want), got)
		return
	}
	for i, w := range got {
		if s := w.Code + ": " + w.Message; !strings.HasPrefix(s, want[i]) {
			t.Errorf("warning %d is %q, want %q", i, s, want[i])
		}
	}
}

// TestStartOf: a thread began in the one function that it entered from outside
// once; with two of them, nobody knows.
func TestStartOf(t *testing.T) {
	p := found().Profile
	x := &p.Threads[1]
	if a := startOf(p, x); a != library+0x100 {
		t.Errorf("began in %#x", uint64(a))
	}
	x.Totals.N[1] = 2
	if a := startOf(p, x); a != 0 {
		t.Errorf("entered twice, began in %#x", uint64(a))
	}
	x.Totals = profile.Counts{Event: []profile.EventID{3, 5}, N: []uint64{1, 1}}
	p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: profile.NoBlock, Kind: profile.Start, Count: 5})
	p.Events = append(p.Events, profile.Event{Kind: profile.EdgeTaken, Edge: 3, Addr: 0x1000})
	if a := startOf(p, x); a != 0 {
		t.Errorf("of two functions, began in %#x", uint64(a))
	}
}
