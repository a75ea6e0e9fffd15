package report

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/report/internal/reporttest"
)

// TestWorkLines: a line's share is that of its blocks' instructions, also where it was
// copied to several places; what waits and what has hardly any is left out.
func TestWorkLines(t *testing.T) {
	at := func(a profile.Addr, line int) profile.Location {
		return profile.Location{Address: a, Frame: profile.Frame{File: "/src/a.c", Line: line, Function: "work"}}
	}
	p := reporttest.Scene(at(0x1000, 7), at(0x1010, 9), at(0x1020, 7), at(0x1030, 8), at(0x1040, 6))
	p.Graph.Blocks, p.Events = nil, nil
	var c profile.Counts
	for i, b := range []struct {
		size  int
		times uint64
		spins bool
	}{{2, 100, false}, {1, 600, false}, {4, 50, false}, {1, 5000, true}, {1, 2, false}} {
		start := profile.Addr(0x1000 + 16*i)
		p.Graph.Blocks = append(p.Graph.Blocks, profile.Block{Start: start, End: start + 16, Last: start, Instructions: int32(b.size), Spin: b.spins, Count: profile.EventID(i)})
		p.Events = append(p.Events, profile.Event{Kind: profile.BlockEntered, Edge: -1, Block: profile.BlockID(i), Addr: start, Superior: profile.NoEvent})
		c.Event, c.N = append(c.Event, profile.EventID(i)), append(c.N, b.times)
	}
	s := &profile.Section{Instances: []profile.Instance{{Parts: []profile.Part{{Counts: c}, {}}}}}
	got := (&builder{p: p}).workLines(s)
	want := []WorkLine{{Share: 0.59880}, {Share: 0.39920}}
	if len(got) != len(want) || got[0].Location.Line != 9 || got[1].Location.Line != 7 {
		t.Fatalf("lines %+v", got)
	}
	for i := range want {
		if d := got[i].Share - want[i].Share; d > 1e-4 || d < -1e-4 {
			t.Errorf("share %v, want %v", got[i].Share, want[i].Share)
		}
	}
	if got := (&builder{p: p}).workLines(&profile.Section{}); len(got) != 0 || got == nil {
		t.Errorf("nothing was done, on %v", got)
	}
}
