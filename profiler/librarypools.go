package profiler

import "github.com/skewlens/skewlens/profile"

// Libraries have pools of threads of their own (Qt's, GLib's, libuv's), which nobody asked
// to have counted and of which no line is known:
//
//	thread ── begins in the library ── looks for a task ┄┄▷ what the program gave it
//
// What such code decides on the way from where a thread begins to where it calls what
// is the program's is which thread takes which task: it deals them out (rule 19), and no
// branch of it is anybody's to mend.

// libraryPools marks the blocks of functions on that way.
func libraryPools(p *profile.Profile) {
	bare := bareFunctions(p)
	if len(bare) == 0 {
		return
	}
	callees, callers := map[profile.FunctionID][]profile.FunctionID{}, map[profile.FunctionID][]profile.FunctionID{}
	var begin, callBack []profile.FunctionID
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if !e.Kind.IsCall() || e.From < 0 || e.To < 0 {
			continue
		}
		from, to := p.Graph.Blocks[e.From].Function, p.Graph.Blocks[e.To].Function
		switch {
		case !bare[from]:
		case bare[to]:
			callees[from], callers[to] = append(callees[from], to), append(callers[to], from)
		case e.Kind != profile.Call:
			callBack = append(callBack, from)
		}
	}
	starts := map[profile.Addr]bool{}
	for i := range p.Threads {
		starts[p.Threads[i].Start] = true
	}
	for f := range bare {
		if starts[p.Graph.Functions[f].Entry] {
			begin = append(begin, f)
		}
	}
	within, leads := reached(begin, callees), reached(callBack, callers)
	for f := range within {
		for b := p.Graph.Functions[f].First; leads[f] && b < p.Graph.Functions[f].First+profile.BlockID(p.Graph.Functions[f].N); b++ {
			x := &p.Graph.Blocks[b]
			x.Deals, x.Runtime = x.Count != profile.NoEvent, x.Count != profile.NoEvent
		}
	}
}

// bareFunctions are those of libraries that no line is known of.
func bareFunctions(p *profile.Profile) map[profile.FunctionID]bool {
	bare := map[profile.FunctionID]bool{}
	for i := range p.Graph.Functions {
		if lib, _ := p.Program.Library(p.Graph.Functions[i].Entry); lib != nil && p.Graph.Functions[i].N > 0 {
			bare[profile.FunctionID(i)] = true
		}
	}
	for i, near, known := 0, 0, false; i < len(p.Graph.Blocks) && len(bare) > 0; i++ {
		b := &p.Graph.Blocks[i]
		if !bare[b.Function] {
			continue
		}
		if near, known = p.LocationNear(b.Last, near); known && p.Locations[near].File != "" {
			delete(bare, b.Function)
		}
	}
	return bare
}

// reached are functions, and those that lead on from them.
func reached(from []profile.FunctionID, on map[profile.FunctionID][]profile.FunctionID) map[profile.FunctionID]bool {
	seen := map[profile.FunctionID]bool{}
	for next := from; len(next) > 0; {
		f := next[len(next)-1]
		if next = next[:len(next)-1]; !seen[f] {
			seen[f] = true
			next = append(next, on[f]...)
		}
	}
	return seen
}
