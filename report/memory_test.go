package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// cachedProfile is of two lines that access memory, one of them in two blocks, a
// call that is simulated as one, and a loop that only waits.
func cachedProfile() *profile.Profile {
	p := &profile.Profile{Run: profile.Run{Machine: "m"}}
	at := func(a profile.Addr, line int) {
		p.Locations = append(p.Locations, profile.Location{Address: a, Frame: profile.Frame{File: "/src/x.c", Line: line, Column: int(a), Function: "f"}})
	}
	block := func(start profile.Addr, spin bool, accesses ...uint32) {
		n := profile.EventID(len(p.Events))
		p.Events = append(p.Events, profile.Event{Kind: profile.BlockEntered, Block: profile.BlockID(len(p.Graph.Blocks)), Addr: start, Edge: -1, Superior: profile.NoEvent})
		p.Graph.Blocks = append(p.Graph.Blocks, profile.Block{Start: start, End: start + 16, Last: start + 12, Instructions: 5, Count: n, Accesses: accesses, Spin: spin})
	}
	miss := func(block profile.BlockID, a profile.Addr, name string, cycles uint32) {
		p.Events = append(p.Events, profile.Event{Kind: profile.Hardware, Block: block, Addr: a, Name: name, Cycles: cycles, Superior: profile.EventID(block), Edge: -1})
	}
	block(0x10, false, 0, 4, 4)
	block(0x20, false, 0)
	block(0x30, true, 0)
	at(0x10, 7)
	at(0x14, 8)
	at(0x20, 7)
	at(0x28, 9) // calls memcpy
	at(0x30, 10)
	miss(0, 0x14, "l1d-miss", 10)
	miss(0, 0x14, "l3-miss", 200)
	miss(1, 0x20, "l2-miss", 40)
	miss(1, 0x28, "l3-miss", 200)
	miss(2, 0x30, "l3-miss", 200)
	miss(0, 0x14, "upgrade", 20)
	miss(0, 0x10, "page-fault", 2000)
	p.Threads = []profile.Thread{
		{ID: 0, Totals: profile.Counts{Event: []profile.EventID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, N: []uint64{60, 100, 500, 10, 5, 2, 3, 400, 4, 1}}},
		{ID: 1, Totals: profile.Counts{Event: []profile.EventID{0}, N: []uint64{40}}},
	}
	return p
}

// TestMemory: accesses are executions of blocks times their accesses, whoever
// missed a farther level has missed the nearer ones, and a rate is of what is known.
func TestMemory(t *testing.T) {
	p := cachedProfile()
	m := (&builder{p: p}).runMemory()
	if m == nil || m.Accesses != 400 || len(m.Levels) != 3 || len(m.Lines) != 3 {
		t.Fatalf("%+v", m)
	}
	for i, want := range []struct {
		line     int
		cycles   uint64
		accesses uint64 // 0: not known
		words    string
	}{
		{8, 10*10 + 5*200 + 4*20, 200, "200 accesses here, 50 % of all · L1D missed 7.50 % (15.0 in 1,000 instructions) · L2 missed 2.50 % (5.00 in 1,000 instructions) · L3 missed 2.50 % (5.00 in 1,000 instructions)"},
		{9, 600, 0, "L1D missed 3× (3.00 in 1,000 instructions) · L2 missed 3× (3.00 in 1,000 instructions) · L3 missed 3× (3.00 in 1,000 instructions)"},
		{7, 80, 200, "200 accesses here, 50 % of all · L1D missed 1.00 % (2.00 in 1,000 instructions) · L2 missed 1.00 % (2.00 in 1,000 instructions) · L3 missed 0 % (0 in 1,000 instructions)"},
	} {
		l := &m.Lines[i]
		if l.Location.Line != want.line || l.Cycles != want.cycles || (l.Accesses == nil) != (want.accesses == 0) || l.Accesses != nil && *l.Accesses != want.accesses {
			t.Errorf("%d: %+v, want %+v", i, l, want)
		}
		if got := strings.Join(l.Words(), " · "); got != want.words {
			t.Errorf("%s,\nwant %s", got, want.words)
		}
		if m.OfLine(Place{File: "/src/x.c", Line: want.line}) != l {
			t.Errorf("line %d is not found", want.line)
		}
	}
	all := []string{"400 accesses", "L1D missed 4.25 % (20.0 in 1,000 instructions)", "L2 missed 1.75 % (10.0 in 1,000 instructions)", "L3 missed 1.25 % (8.00 in 1,000 instructions)"}
	if got := m.Words(); !slices.Equal(got, all) {
		t.Errorf("%q, want %q", got, all)
	}
	p.Run.Machine = ""
	if m := (&builder{p: p}).runMemory(); m != nil || m.OfLine(Place{}) != nil {
		t.Errorf("%+v where nothing was simulated", m)
	}
}

// TestMemoryCalled: of what libraries miss that an instruction calls it is not known how
// often they access, though it is of the instruction itself.
func TestMemoryCalled(t *testing.T) {
	p := cachedProfile()
	for i := range p.Events {
		if ev := &p.Events[i]; ev.Addr == 0x20 && ev.Kind == profile.Hardware {
			ev.Called = true
		}
	}
	m := (&builder{p: p}).runMemory()
	if l := m.OfLine(Place{File: "/src/x.c", Line: 7}); l == nil || l.Accesses != nil || l.Levels[0].Rate != nil || l.Levels[0].Misses != 2 {
		t.Errorf("%+v", l)
	}
	if got, want := m.Words()[1], "L1D missed 3.75 % (18.0 in 1,000 instructions)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i := range p.Events {
		p.Events[i].Called = p.Events[i].Kind == profile.Hardware
	}
	if got, want := (&builder{p: p}).runMemory().Words()[1], "L1D missed 0 %"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDoubt: of one line doubts add up, of several their squares; of a part of what
// happened there is more.
func TestDoubt(t *testing.T) {
	p := cachedProfile()
	for e, d := range map[profile.EventID]float64{3: 0.1, 4: 0.2, 5: 0.5} {
		p.Events[e].Doubt = d
	}
	m := (&builder{p: p}).runMemory()
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if (got == nil) != (want == 0) || got != nil && math.Abs(*got-want) > 1e-3 {
			t.Errorf("%s is doubted by %+v, want %v", what, Level{Doubt: got}.Missed(), want)
		}
	}
	eight := m.Lines[0].Levels // 10 l1d-misses ± 1 and 5 l3-misses ± 1
	near("line 8's first level", eight[0].Doubt, 2./15)
	near("its last level", eight[2].Doubt, 1./5)
	near("line 9, counted", m.Lines[1].Levels[2].Doubt, 0)
	near("all", m.Levels[0].Doubt, math.Sqrt(2*2+1*1)/20) // and 2 l2-misses ± 1 of line 7
	if got := strings.Join(m.Lines[0].Words(), " · "); !strings.Contains(got, "L1D missed 7.50 ± 1.00 %") {
		t.Error(got)
	}
	part := (&builder{p: p}).memory([]profile.Counts{{Event: []profile.EventID{0, 3}, N: []uint64{25, 2}}})
	near("a fifth of it", part.Levels[0].Doubt, 0.1*math.Sqrt(5))
	if got := (Level{Misses: 50, Doubt: known(0.25)}).Missed(); got != "50× ± 25 %" {
		t.Error(got)
	}
}

// TestDoubtfulCauses: a cause of which few lines were sampled is doubted, others are not.
func TestDoubtfulCauses(t *testing.T) {
	at := Place{File: "x.c", Line: 7}
	for _, c := range []struct {
		doubt *float64
		level string
		want  string
	}{
		{known(1.02), "l2", "the misses at x.c:7, cause 1, are of few lines, 5,000× ± 102 %"}, {known(0.1), "l2", ""}, {known(1.02), "l3", ""}, {nil, "l2", ""},
	} {
		s := &Section{Causes: []Cause{{Rank: 1, Level: c.level, Location: &Location{Place: at}}, {Rank: 2, Kind: "control-flow", Location: &Location{Place: at}}},
			Memory: &Memory{Lines: []MemoryLine{{Location: at, Levels: []Level{{Level: "l1d", Misses: 9000, Doubt: known(0.01)}, {Level: "l2", Misses: 5000, Doubt: c.doubt}}}}}}
		doubtCauses(s)
		if len(s.Warnings) > 1 || (len(s.Warnings) == 1) != (c.want != "") || c.want != "" && !strings.Contains(s.Warnings[0].Message, c.want) {
			t.Errorf("%+v: %+v", c, s.Warnings)
		}
	}
}
