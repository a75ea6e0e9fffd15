package profiler

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestStartsBehindTheLibrary: a std::thread begins in the library, whose
// templates are in the program, and comes to the user's function by calls that
// happen once.
func TestStartsBehindTheLibrary(t *testing.T) {
	const run, invoke, draw, other, gone = 0x1000, 0x1100, 0x1200, 0x1300, 0x1400
	made := func(second string, times uint64) *profile.Profile {
		p := &profile.Profile{}
		for i, f := range []struct {
			name  string
			entry profile.Addr
		}{{"_ZNSt6thread11_State_implI1xE6_M_runEv", run}, {"_ZSt8__invokeI1xEvT_", invoke}, {"_Z4drawii", draw}, {second, other}, {"_ZNSt6thread11_State_implI1xED0Ev", gone}} {
			p.Graph.Functions = append(p.Graph.Functions, profile.Function{Name: f.name, Entry: f.entry, End: f.entry + 16, First: profile.BlockID(i), N: 1, EntryBlock: profile.BlockID(i)})
			p.Graph.Blocks = append(p.Graph.Blocks, profile.Block{Function: profile.FunctionID(i), Start: f.entry, Last: f.entry, End: f.entry + 16, Instructions: 1, Count: profile.NoEvent})
		}
		x := profile.Thread{ID: 1, BeginNS: 7, EndNS: 9}
		for i, e := range []profile.Edge{
			{From: profile.NoBlock, To: 0, Kind: profile.Start}, {From: profile.NoBlock, To: 4, Kind: profile.Start},
			{From: 0, To: 1, Kind: profile.Call, Site: run + 1}, {From: 1, To: 2, Kind: profile.Indirect, Site: invoke + 1}, {From: 1, To: 3, Kind: profile.Call, Site: invoke + 2},
		} {
			e.Count = profile.EventID(i)
			p.Graph.Edges = append(p.Graph.Edges, e)
			ev := profile.Event{Kind: profile.EdgeTaken, Edge: int32(i), Block: e.From, Addr: e.Site, Superior: profile.NoEvent}
			if e.Site == 0 {
				ev.Addr = p.Graph.Blocks[e.To].Start
			}
			p.Events = append(p.Events, ev)
			n := uint64(1)
			if i == 4 {
				n = times
			}
			if n > 0 {
				x.Totals.Event, x.Totals.N = append(x.Totals.Event, e.Count), append(x.Totals.N, n)
			}
		}
		p.Threads = []profile.Thread{{ID: 0}, x}
		part := func(id profile.ThreadID, begin int64) profile.Part {
			return profile.Part{Thread: id, BeginNS: begin, ArriveNS: 9}
		}
		p.Sections = []profile.Section{{Kind: profile.Join, Site: run, Instances: []profile.Instance{
			{Folded: 1, Parts: []profile.Part{part(0, 7), part(1, 7)}}, {Folded: 1, Parts: []profile.Part{part(0, 8), part(1, 8)}}}}}
		return p
	}
	for _, c := range []struct {
		name, second string
		times        uint64
		want         profile.Addr
	}{
		{"one function", "_Z5otherv", 0, draw},
		{"a copy on the way", "_ZN3argC1ERKS_", 2, draw},
		{"another once", "_Z5otherv", 1, run},
		{"the library's own", "_ZSt4moveIxEvT_", 1, draw},
	} {
		p := made(c.second, c.times)
		findStarts(p)
		if got := p.Threads[1].Start; got != c.want {
			t.Errorf("%s: began in %#x, want %#x", c.name, uint64(got), uint64(c.want))
		}
		ins := p.Sections[0].Instances
		if got := ins[0].Parts[1].Begin; got != c.want {
			t.Errorf("%s: its first part begins in %#x", c.name, uint64(got))
		}
		if ins[0].Parts[0].Begin != 0 || ins[1].Parts[1].Begin != 0 {
			t.Errorf("%s: a part that went on begins somewhere: %+v", c.name, ins)
		}
	}
}

// Threads of one lambda that call different functions have decided that
// themselves; through a pointer, it was decided before.
func TestStartsOfOneLambda(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   profile.EdgeKind
		sites  [2]profile.Addr
		starts [2]profile.Addr
	}{
		{"direct calls", profile.Call, [2]profile.Addr{0x1001, 0x1002}, [2]profile.Addr{0x1000, 0x1000}},
		{"direct jumps", profile.TailCall, [2]profile.Addr{0x1001, 0x1002}, [2]profile.Addr{0x1000, 0x1000}},
		{"a call through a pointer", profile.Indirect, [2]profile.Addr{0x1001, 0x1001}, [2]profile.Addr{0x1010, 0x1020}},
		{"a jump through a pointer", profile.TailCall, [2]profile.Addr{0x1001, 0x1001}, [2]profile.Addr{0x1010, 0x1020}},
	} {
		p := &profile.Profile{Threads: []profile.Thread{{ID: 0}}}
		for i, name := range []string{"_ZNSt6thread11_State_implI1xE6_M_runEv", "_Z6decodeii", "_Z4drawii"} {
			entry := profile.Addr(0x1000 + 16*i)
			p.Graph.Functions = append(p.Graph.Functions, profile.Function{Name: name, Entry: entry, First: profile.BlockID(i), N: 1})
			p.Graph.Blocks = append(p.Graph.Blocks, profile.Block{Function: profile.FunctionID(i), Start: entry, Count: profile.NoEvent})
		}
		p.Graph.Edges = []profile.Edge{{From: profile.NoBlock, To: 0, Kind: profile.Start, Count: 0},
			{From: 0, To: 1, Kind: c.kind, Site: c.sites[0], Count: 1}, {From: 0, To: 2, Kind: c.kind, Site: c.sites[1], Count: 2}}
		for i := range p.Graph.Edges {
			p.Events = append(p.Events, profile.Event{Kind: profile.EdgeTaken, Edge: int32(i), Addr: 0x1000})
		}
		for i := range 2 {
			p.Threads = append(p.Threads, profile.Thread{ID: profile.ThreadID(i + 1), Totals: profile.Counts{Event: []profile.EventID{0, profile.EventID(i + 1)}, N: []uint64{1, 1}}})
		}
		findStarts(p)
		if got := [2]profile.Addr{p.Threads[1].Start, p.Threads[2].Start}; got != c.starts {
			t.Errorf("%s: began in %#x, want %#x", c.name, got, c.starts)
		}
	}
}
