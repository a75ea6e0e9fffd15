package profile

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// Every promise, broken once.
func TestCheckValid(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(p *Profile)
	}{
		{"wall time", func(p *Profile) { p.Run.WallNS = -1 }},
		{"slowdown is NaN", func(p *Profile) { p.Run.Slowdown = math.NaN() }},
		{"2 functions of 1", func(p *Profile) { p.Coverage.Functions = 2 }},
		{"kebab-case", func(p *Profile) { p.Warnings = []Warning{{"Few Threads", "x"}} }},
		{"not one line", func(p *Profile) { p.Sections[0].Warnings = []Warning{{"few", "x\ny"}} }},
		{"is not after the one before", func(p *Profile) { p.Graph.Functions = append(p.Graph.Functions, p.Graph.Functions[0]) }},
		{"before its entry", func(p *Profile) { p.Graph.Functions[0].End = 1 }},
		{"are not among the 2", func(p *Profile) { p.Graph.Functions[0].N = math.MaxInt32 }},
		{"functions hold 1 blocks", func(p *Profile) { p.Graph.Functions[0].N = 1 }},
		{"has no blocks", func(p *Profile) { p.Graph.Functions[0].N = 0 }},
		{"not one of its own", func(p *Profile) { p.Graph.Functions[0].EntryBlock = 2 }},
		{"not at the entry", func(p *Profile) { p.Graph.Functions[0].EntryBlock = 1 }},
		{"belongs to function 7", func(p *Profile) { p.Graph.Blocks[1].Function = 7 }},
		{"before the one before it", func(p *Profile) { p.Graph.Blocks[1].Start = 1 }},
		{"last instruction", func(p *Profile) { p.Graph.Blocks[0].Last = 0x1010 }},
		{"has 0 instructions", func(p *Profile) { p.Graph.Blocks[0].Instructions = 0 }},
		{"virtual, but", func(p *Profile) { p.Graph.Blocks[0].Virtual = true }},
		{"is opaque", func(p *Profile) { p.Graph.Functions[0].Opaque = true }},
		{"event 9 is not among", func(p *Profile) { p.Graph.Blocks[0].Count = 9 }},
		{"does not count this block", func(p *Profile) { p.Graph.Blocks[0].Count = 1 }},
		{"kind 77 is not known", func(p *Profile) { p.Graph.Edges[0].Kind = 77 }},
		{"not among the 2 blocks", func(p *Profile) { p.Graph.Edges[0].To = 2 }},
		{"comes from outside, and this is a jump", func(p *Profile) { p.Graph.Edges[1].Kind = Jump }},
		{"leads out of the graph", func(p *Profile) { p.Graph.Edges[2].Kind = Jump }},
		{"an exit leads to a block", func(p *Profile) { p.Graph.Edges[2].To = 0 }},
		{"counts neither", func(p *Profile) { p.Graph.Edges[1].Count = 1 }},
		{"whose event is -1", func(p *Profile) { p.Graph.Edges[0].Count = NoEvent }},
		{"only hardware events have", func(p *Profile) { p.Events[0].Superior = 0 }},
		{"its block starts at", func(p *Profile) { p.Events[0].Addr = 7 }},
		{"its edge is decided at", func(p *Profile) { p.Events[1].Addr = 7 }},
		{"kind 5 is not known", func(p *Profile) { p.Events[1] = Event{Kind: 5, Superior: NoEvent}; p.Graph.Edges[0].Count = NoEvent }},
		{"has no name", func(p *Profile) { p.Events = append(p.Events, Event{Kind: Hardware, Superior: NoEvent}) }},
		{"is its own superior", func(p *Profile) {
			p.Events = append(p.Events, Event{Kind: Hardware, Name: "a", Superior: 3}, Event{Kind: Hardware, Name: "b", Superior: 2})
		}},
		{"listed after", func(p *Profile) { p.Threads = append(p.Threads, p.Threads[0]) }},
		{"before it begins", func(p *Profile) { p.Threads[0].BeginNS, p.Threads[0].EndNS = 2, 1 }},
		{"created by thread 8", func(p *Profile) { p.Threads[0].Creator = 9 }},
		{"joined by thread 8", func(p *Profile) { p.Threads[0].Joiner, p.Threads[0].JoinedNS = 9, 9 }},
		{"joined at 5 ns", func(p *Profile) { p.Threads[0].JoinedNS = 5 }},
		{"of kind \"x\" that was ended", func(p *Profile) { p.Sections[0].Instances[0].Parts[0].Syncs = []Sync{{Kind: "x"}} }},
		{"was ended at 3 ns", func(p *Profile) {
			p.Sections[0].Instances[0].Parts[0].Syncs = []Sync{{Kind: WaitLock, EndNS: 2, WakeNS: 3}}
		}},
		{"has ended a wait", func(p *Profile) {
			p.Sections[0].Instances[0].Parts[0].Syncs = []Sync{{Kind: WaitLock, Thread: 9}}
		}},
		{"after a later one", func(p *Profile) {
			p.Sections[0].Instances[0].Parts[0].Syncs = []Sync{{Kind: WaitLock, BeginNS: 5, EndNS: 5, Thread: p.Threads[0].ID}, {Kind: WaitLock, Thread: p.Threads[0].ID}}
		}},
		{"negative time", func(p *Profile) { p.Threads[0].CreatedNS = -1 }},
		{"is created at 7 ns", func(p *Profile) { p.Threads[0].CreatedNS = 7 }},
		{"is waited for from 7 ns", func(p *Profile) { p.Threads[0].JoinNS = 7 }},
		{"has waited for it", func(p *Profile) { p.Sections[0].Instances[0].Waiter = 9 }},
		{"1 events with 0 counts", func(p *Profile) { p.Threads[0].Totals = Counts{Event: []EventID{0}} }},
		{"with count 0", func(p *Profile) { p.Threads[0].Totals = Counts{[]EventID{0}, []uint64{0}} }},
		{"is not after the one before, 1", func(p *Profile) { p.Threads[0].Totals = Counts{[]EventID{1, 0}, []uint64{1, 1}} }},
		{"kind is not known", func(p *Profile) { p.Sections[0].Kind = "x" }},
		{"outside of -1", func(p *Profile) { p.Sections[0].Outside = -1 }},
		{"has no site", func(p *Profile) { p.Sections[0].Site = 0 }},
		{"but has a site", func(p *Profile) { p.Sections[0].Kind = Threads }},
		{"stands for 0 executions", func(p *Profile) { p.Sections[0].Instances[0].Folded = 0 }},
		{"has rank 1", func(p *Profile) { p.Sections[0].Instances[0].Folded = 2 }},
		{"folded instances only", func(p *Profile) { p.Sections[0].Totals = p.Sections[0].Instances[0].Parts }},
		{"has no parts", func(p *Profile) { p.Sections[0].Instances[0].Parts = nil }},
		{"slot 1 is another thread's too", func(p *Profile) {
			q := &p.Sections[0].Instances[0].Parts
			p.Threads = append(p.Threads, Thread{ID: 99})
			*q = []Part{{Thread: p.Threads[0].ID, Slot: 1}, {Thread: 99, Slot: 1}}
		}},
		{"slot -1, where others", func(p *Profile) { p.Sections[0].Instances[0].Parts[0].Slot = -1 }},
		{"that of several threads", func(p *Profile) { p.Sections[0].Instances[0].Parts[0].Several = true }},
		{"lasted -1 ns", func(p *Profile) { p.Sections[0].TimeNS = -1 }},
		{"thread 3 is not known", func(p *Profile) { p.Sections[0].Instances[0].Parts[0].Thread = 3 }},
		{"is not timed", func(p *Profile) { p.Sections[0].Instances[0].Parts[0].Timed = false }},
		{"line -1", func(p *Profile) { p.Locations[0].Line = -1 }},
		{"of no file", func(p *Profile) { p.Locations[0].InlinedAt[0].File = "" }},
		{"without a file", func(p *Profile) { p.Locations[0].Frame = Frame{} }},
		{"symbol offset", func(p *Profile) { p.Locations[0].SymbolOffset = 1 }},
		{"is not after the one before, 0x1000", func(p *Profile) { p.Locations = append(p.Locations, p.Locations[0]) }},
	} {
		p, err := ReadText(strings.NewReader(owner))
		if err != nil {
			t.Fatal(err)
		}
		c.spoil(p)
		err = p.CheckValid()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got error %v, want one line with %q", err, c.want)
		}
		if Write(&bytes.Buffer{}, p) == nil || WriteText(&bytes.Buffer{}, p) == nil {
			t.Errorf("%s: it was written", c.want)
		}
	}
}
