package profiler

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestLibraryPools: what a library without lines decides between where a thread begins in it
// and where it calls the program deals; not what it does besides, what only the program's own
// calls lead to, or what lines are known of.
func TestLibraryPools(t *testing.T) {
	const lib, lined = profile.LibraryStep, 2 * profile.LibraryStep
	p := &profile.Profile{}
	p.Program.Libraries = []profile.Library{{Path: "libpool.so", Base: lib}, {Path: "libown.so", Base: lined}}
	at := []profile.Addr{0x1000, 0x2000, lib + 0x1000, lib + 0x2000, lib + 0x3000, lib + 0x4000, lined + 0x1000, lined + 0x2000}
	const main, task, begins, loops, allocates, sorts, ownBegins, ownLoops = 0, 1, 2, 3, 4, 5, 6, 7
	for i, a := range at {
		p.Graph.Functions = append(p.Graph.Functions, profile.Function{Entry: a, End: a + 0x10, First: profile.BlockID(i), N: 1, EntryBlock: profile.BlockID(i)})
		p.Graph.Blocks = append(p.Graph.Blocks, profile.Block{Function: profile.FunctionID(i), Start: a, End: a + 0x10, Last: a + 0xc, Count: profile.EventID(i)})
		if a < lib || a >= lined {
			p.Locations = append(p.Locations, profile.Location{Address: a + 0xc, Frame: profile.Frame{File: "own.c", Line: i + 1}})
		}
	}
	for _, c := range []struct {
		from, to profile.BlockID
		kind     profile.EdgeKind
	}{
		{begins, loops, profile.Indirect}, {loops, allocates, profile.Call}, {loops, task, profile.TailCall},
		{main, sorts, profile.Call}, {sorts, task, profile.Indirect},
		{ownBegins, ownLoops, profile.Call}, {ownLoops, task, profile.Indirect},
	} {
		p.Graph.Edges = append(p.Graph.Edges, profile.Edge{From: c.from, To: c.to, Kind: c.kind})
	}
	p.Threads = []profile.Thread{{}, {ID: 1, Start: at[begins]}, {ID: 2, Start: at[ownBegins]}}
	libraryPools(p)
	for i := range p.Graph.Blocks {
		if got, want := p.Graph.Blocks[i].Deals, i == begins || i == loops; got != want {
			t.Errorf("function %d deals: %v", i, got)
		}
	}
}
