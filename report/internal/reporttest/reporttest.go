// Package reporttest is what the tests of report and of its renderers share:
// profiles of programs that never ran, what lime might say of them, and their
// source. It does not know report, so that report's own tests can use it.
package reporttest

import (
	"math"
	"path/filepath"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// The profiles of these tests have one block of one instruction, so that a
// count is a number of instructions.

var nan = math.NaN()

// Lines is a source tree by base name; radix.cc is newer than the program.
type Lines map[string]string

func (l Lines) Line(file string, line int) (string, bool, bool) {
	s, ok := l[filepath.Base(file)]
	return s, filepath.Base(file) == "radix.cc", ok
}

// Sources are the source of the scenes.
var Sources = Lines{
	"owner.c":  "\t\tif (owner(s, i, j) == me->id)  // 所有者 decides, and this comment goes on and on and on",
	"radix.cc": "\twhile (\x1b[31moffset != 0)",
}

// Analyse stands in for lime; see report.Analyse.
type Analyse = func(*profile.Section, lime.Options) (*lime.Result, error)

// Scenes are all that have golden files, by their names there.
func Scenes() map[string]func() (*profile.Profile, Analyse) {
	return map[string]func() (*profile.Profile, Analyse){"owner": Owner, "mixed": Mixed, "dealt": Dealt, "missed": Missed, "sized": Sized, "forked": Forked}
}

// Scene is a profile of one block and four threads.
func Scene(locations ...profile.Location) *profile.Profile {
	return &profile.Profile{
		Program:  profile.Program{Path: "/src/owner", Args: []string{"4"}, BuildID: "c0ffee"},
		Run:      profile.Run{Backend: "native", WallNS: 410e6, Cores: 8},
		Coverage: profile.Coverage{Functions: 17, FunctionsTotal: 17, Instructions: 1000, InstructionsTotal: 1000},
		Graph: profile.Graph{
			Functions: []profile.Function{{Name: "work", Entry: 0x1000, End: 0x1001, N: 1}},
			Blocks:    []profile.Block{{Start: 0x1000, End: 0x1001, Last: 0x1000, Instructions: 1, Count: 0}},
		},
		Events: []profile.Event{
			{Kind: profile.BlockEntered, Edge: -1, Addr: 0x1000, Superior: profile.NoEvent},
			{Kind: profile.Hardware, Edge: -1, Addr: 0x1000, Name: "l2-miss", Reason: "false-sharing", Cycles: 50, Partner: 0x1000, Writer: 3},
		},
		Threads:   []profile.Thread{{ID: 0}, {ID: 1}, {ID: 2}, {ID: 3}},
		Locations: locations,
	}
}

// At is a place in the source.
func At(addr profile.Addr, file string, line, column int, function string, inlined ...profile.Frame) profile.Location {
	return profile.Location{
		Address:   addr,
		Frame:     profile.Frame{File: file, Line: line, Column: column, Function: function},
		InlinedAt: inlined,
	}
}

// Section has one instance in which the threads executed so many instructions.
func Section(kind profile.SectionKind, site profile.Addr, spanNS int64, instructions ...uint64) profile.Section {
	in := profile.Instance{Folded: 1, SpanNS: spanNS}
	for t, n := range instructions {
		in.Parts = append(in.Parts, profile.Part{
			Thread: profile.ThreadID(t), Site: site,
			Counts: profile.Counts{Event: []profile.EventID{0}, N: []uint64{n}},
		})
	}
	return profile.Section{Kind: kind, Site: site, Instances: []profile.Instance{in}}
}

// analysed stands in for lime: imbalance from the instructions, causes as given.
func analysed(p *profile.Profile, s *profile.Section, timed bool, causes ...lime.Cause) *lime.Result {
	r := &lime.Result{Response: profile.Instructions, R2: nan, JointGain: nan, Causes: causes}
	sum, most, parts := uint64(0), uint64(0), s.Instances[0].Parts
	for _, pt := range parts {
		n := p.Instructions(pt.Counts)
		sum, most = sum+n, max(most, n)
	}
	for _, pt := range parts {
		n := p.Instructions(pt.Counts)
		t := lime.ThreadTotal{Thread: pt.Thread, Instructions: n, Timed: timed}
		if timed {
			t.BusyNS, t.WaitNS = int64(n), int64(most-n)
		}
		r.Threads = append(r.Threads, t)
	}
	r.Instances = len(s.Instances)
	r.Imbalance = 1 - float64(sum)/float64(most*uint64(len(parts)))
	r.Balanced = r.Imbalance < 0.01
	return r
}

// Owner is a barrier with one cause, timed, and a balanced join.
func Owner() (*profile.Profile, Analyse) {
	p := Scene(
		At(0x1100, "/src/owner.c", 28, 13, "owner", profile.Frame{File: "/src/owner.c", Line: 34, Column: 25, Function: "factor"}),
		At(0x1110, "/src/owner.c", 35, 40, "factor"),
		At(0x1200, "/src/example.h", 44, 5, "work"),
		At(0x1300, "/src/owner.c", 36, 9, "factor"),
		At(0x1400, "/src/example.h", 80, 9, "together"),
	)
	p.Sections = []profile.Section{
		Section(profile.Join, 0x1400, 1e6, 1000, 1001, 1000, 1000),
		Section(profile.Barrier, 0x1300, 390e6, 100e6, 250e6, 390e6, 120e6),
	}
	return p, func(s *profile.Section, _ lime.Options) (*lime.Result, error) {
		if s.Kind == profile.Join {
			return analysed(p, s, true), nil
		}
		r := analysed(p, s, true, lime.Cause{
			Kind: "control-flow", Leader: lime.Branch, Share: .91, Score: .93, Beta: .97, LeaderScore: .96, P: nan,
			Gain: .36, WholeUnits: .31, Addr: 0x1100, To: 0x1110, Counts: []uint64{1, 8, 15, 2},
			Members: []lime.Member{{Kind: "control-flow", Addr: 0x1200, Corr: 1}, {Kind: "control-flow", Addr: 0x1200, Corr: .99}, {Kind: "control-flow", Addr: 0x1110, Corr: .99}},
		})
		r.R2, r.JointGain = .99, .36
		return r, nil
	}
}

// Forked is Owner with what it takes to know the critical path: thread 0 creates the
// others, works with them, and joins them; in the barrier one waits for a lock.
func Forked() (*profile.Profile, Analyse) {
	p, analyse := Owner()
	p.Run.WallNS = 420e6
	for i := range p.Threads {
		t := &p.Threads[i]
		t.BeginNS, t.EndNS, t.CPUNS = 10e6, 405e6, 1e6
		if i > 0 {
			t.Creator, t.Joiner, t.JoinedNS = 1, 1, 406e6
		}
	}
	p.Threads[0].BeginNS, p.Threads[0].EndNS, p.Threads[0].CPUNS = 0, 420e6, 30e6
	for s := range p.Sections {
		in := &p.Sections[s].Instances[0]
		for k := range in.Parts {
			q := &in.Parts[k]
			q.BeginNS, q.BusyNS, q.Timed = 10e6, int64(q.Counts.N[0]*9/10), true
			if p.Sections[s].Kind == profile.Join {
				q.BeginNS, q.BusyNS = 402e6, int64(q.Counts.N[0])
			}
			q.ArriveNS = q.BeginNS + int64(q.Counts.N[0])
			p.Threads[k].CPUNS += q.BusyNS
		}
	}
	q := &p.Sections[1].Instances[0].Parts[2]
	q.Waits = []profile.Wait{{Kind: profile.WaitLock, Site: 0x1100, NS: 30e6, N: 7}}
	q.Wakes = []profile.Wake{{Kind: profile.WaitLock, Site: 0x1100, By: 0x1110, Thread: 1, NS: 25e6}}
	q.Syncs = []profile.Sync{{Kind: profile.WaitLock, Site: 0x1100, BeginNS: 20e6, EndNS: 42e6, Thread: 1, WakeNS: 40e6}}
	return p, func(s *profile.Section, o lime.Options) (*lime.Result, error) {
		r, err := analyse(s, o)
		if err == nil && s.Kind == profile.Barrier {
			r.Moved = [][]float64{{50e6, 10e6, -90e6, 30e6}}
		}
		return r, err
	}
}

// Missed is Owner's barrier with simulated caches, where a thread misses more than
// the others.
func Missed() (*profile.Profile, Analyse) {
	p, _ := Owner()
	p.Run.Machine = "server64"
	p.Locations = append([]profile.Location{At(0x1000, "/src/owner.c", 30, 17, "work")}, p.Locations...)
	p.Graph.Blocks[0].Accesses = []uint32{0}
	counts := []uint64{40_000_000, 800_000, 700_000, 600_000}
	for i, n := range counts {
		for k := range p.Sections {
			q := &p.Sections[k].Instances[0].Parts[i].Counts
			if k == 1 {
				q.Event, q.N = append(q.Event, 1), append(q.N, n)
			}
			p.Threads[i].Totals = p.Threads[i].Totals.Plus(*q)
		}
	}
	return p, func(s *profile.Section, _ lime.Options) (*lime.Result, error) {
		if s.Kind == profile.Join {
			return analysed(p, s, true), nil
		}
		r := analysed(p, s, true, lime.Cause{
			Kind: "l2-miss", Event: 1, Share: .91, Score: .93, Beta: .97, LeaderScore: nan, P: nan,
			Gain: .36, WholeUnits: nan, Addr: 0x1000, Counts: counts, Erased: .9,
		})
		r.R2, r.JointGain = .99, .36
		return r, nil
	}
}

// Sized is Owner's barrier with caches of several sizes.
func Sized() (*profile.Profile, Analyse) {
	p, analyse := Owner()
	p.Locations = append([]profile.Location{At(0x1000, "/src/owner.c", 30, 17, "work")}, p.Locations...)
	p.Graph.Blocks[0].Accesses = []uint32{0}
	first := profile.EventID(len(p.Events))
	for _, e := range []struct {
		all    bool
		reason string
	}{{false, "32768"}, {false, "1048576"}, {false, profile.ReuseLost}, {true, "262144"}, {true, profile.ReuseFirst}} {
		p.Events = append(p.Events, profile.Event{Kind: profile.Hardware, Addr: 0x1000, Name: profile.Reuse(e.all), Reason: e.reason, Superior: p.Graph.Blocks[0].Count, Edge: -1})
	}
	for i := range p.Threads {
		for k := range p.Sections {
			q := &p.Sections[k].Instances[0].Parts[i].Counts
			if k == 1 {
				for n, times := range []uint64{4_000_000, 2_000_000, 1_000, 9_000_000, 10_000} {
					q.Event, q.N = append(q.Event, first+profile.EventID(n)), append(q.N, times/uint64(i+1))
				}
			}
			p.Threads[i].Totals = p.Threads[i].Totals.Plus(*q)
		}
	}
	return p, analyse
}

// Dealt is Owner's barrier on virtual cores, with the units of its work, of which those of each thread
// follow each other.
func Dealt() (*profile.Profile, Analyse) {
	p, analyse := Owner()
	p.Locations = append(p.Locations, At(0x1500, "/src/owner.c", 33, 5, "factor"))
	u := &profile.Units{Loop: 0x1500, Dealt: profile.DealtInBlocks, Rounds: []profile.UnitRound{{}}}
	y := &u.Rounds[0]
	for t, q := range p.Sections[1].Instances[0].Parts {
		rest := q.Counts.N[0]
		for k := range uint64(5) {
			cost := q.Counts.N[0] * (k + 1) / 16
			y.Units = append(y.Units, profile.Unit{Cost: cost, N: 1, Part: int32(t)})
			rest -= cost
		}
		y.Rest = append(y.Rest, rest)
	}
	p.Sections[1].Units, p.Run.Virtual = u, 4
	return p, analyse
}

// Mixed has every kind of leader, numbers that are not known, two sections on
// one line, lines that are not known and doubts at every level.
func Mixed() (*profile.Profile, Analyse) {
	p := Scene(
		At(0x1100, "/src/radix.cc", 10, 0, "sort<int>"),
		At(0x1120, "/src/radix.cc", 20, 3, "walk"),
		profile.Location{Address: 0x1130, Frame: profile.Frame{Function: "draw"}, SymbolOffset: 0},
		profile.Location{Address: 0x1140, Frame: profile.Frame{Function: "serve"}, SymbolOffset: 0x1f},
		At(0x1300, "/src/radix.cc", 50, 5, "sort<int>"),
		At(0x1310, "/src/radix.cc", 50, 5, "sort<int>"),
	)
	p.Run = profile.Run{Backend: "native", Cores: 2, Signal: "SIGSEGV"}
	p.Coverage = profile.Coverage{
		Functions: 13, FunctionsTotal: 17, Instructions: 900, InstructionsTotal: 1000,
		Skipped: []profile.Skipped{{Function: "a", Reason: "jumps into itself"}, {Function: "b", Reason: "too short"}, {Function: "c", Reason: "too short"}, {Function: "d", Reason: "too short"}},
	}
	p.Warnings = []profile.Warning{{Code: "fork", Message: "the program forked: children were not counted"}}
	p.Sections = []profile.Section{
		Section(profile.Barrier, 0x1310, 0, 100, 900, 100, 100),
		Section(profile.Barrier, 0x1300, 0, 100, 9000, 4000, 200),
		Section(profile.Threads, 0, 0, 1, 2, 3, 2),
		{Kind: profile.Join, Site: 0x1500},
	}
	p.Sections[1].Warnings = []profile.Warning{{Code: "folded", Message: "the oldest 100 instances were added up"}}
	return p, func(s *profile.Section, _ lime.Options) (*lime.Result, error) {
		switch s.Site {
		case 0x1310:
			return analysed(p, s, false, lime.Cause{
				Kind: "control-flow", Leader: lime.Loop, Share: .999, Score: .5, Beta: .5, LeaderScore: 1, P: nan,
				Gain: .7, WholeUnits: 0, Addr: 0x1140, Counts: []uint64{1, 1234567, 1, 1},
			}), nil
		case 0x1300:
			r := analysed(p, s, false,
				lime.Cause{Kind: "control-flow", Leader: lime.Recursion, Share: .5, Score: .5, Beta: .5, LeaderScore: 1, P: .001, Gain: nan, WholeUnits: nan, Addr: 0x1120, To: 0x1100, Counts: []uint64{0, 500, 2, 0}},
				lime.Cause{Kind: "control-flow", Leader: lime.StartAt, Share: .25, Score: nan, Beta: nan, LeaderScore: nan, P: nan, Gain: .2, WholeUnits: .2, Addr: 0x1130, Counts: []uint64{0, 1, 1, 0}},
				lime.Cause{Kind: "l2-miss", Event: 1, Erased: .08, Share: .1, Score: .1, Beta: .1, LeaderScore: nan, P: .01, Gain: .001, WholeUnits: nan, Addr: 0x1100, Counts: []uint64{0, 0, 7, 0}, Members: []lime.Member{{Kind: "page-fault", Addr: 0x9999, Corr: .9}}},
			)
			r.JointGain = .4
			r.Warnings = []profile.Warning{{Code: "few-threads", Message: "with so few threads a coincidence looks like a cause"}}
			return r, nil
		}
		return analysed(p, s, false), nil
	}
}
