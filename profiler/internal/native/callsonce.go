package native

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// What sets a future's result is called back by the C library (std::call_once, by
// pthread_once), and so is all that a pool of threads runs as std::packaged_task, or
// std::async in its thread:
//
//	loop: task() ── call_once ┄┄▷ sets the result ── what the user gave
//
// Which call led there is not known one by one, as each may have come too late, when
// another one had been. But where, in every thread, so many were made as came in, each of
// them did.

// givenAt is a call that was given a function.
type givenAt struct {
	site profile.Addr
	once bool // of what it was given it calls nothing twice
}

// callsOnce are library functions that call what they are given once for all.
var callsOnce = map[string]bool{"pthread_once": true, "call_once": true}

// givesBack reports whether a library function calls what it was given before it comes back.
func givesBack(name string) bool { return callsBack[name] || callsOnce[name] }

// once makes calls, in the graph, of an edge from outside into a function that such
// calls were given; the edge itself leads nowhere then.
func once(p *profile.Profile, blocks *profile.BlockIndex, e *profile.Edge, sites []givenAt) (calls []profile.Edge) {
	for _, g := range sites {
		from := blocks.At(g.site)
		if !g.once || from == profile.NoBlock || p.Graph.Blocks[from].Count == profile.NoEvent {
			return nil
		}
		calls = append(calls, profile.Edge{From: from, To: e.To, Kind: profile.Indirect, Site: g.site, Count: p.Graph.Blocks[from].Count})
	}
	came := false
	for i := range p.Threads {
		t := &p.Threads[i].Totals
		in, made := t.Of(e.Count), uint64(0)
		for k := range calls {
			made += t.Of(calls[k].Count)
		}
		if in != made {
			return nil
		}
		came = came || in > 0
	}
	if !came {
		return nil
	}
	e.From, e.To, e.Kind, e.Site = calls[0].From, profile.NoBlock, profile.Indirect, calls[0].Site
	p.Events[e.Count].Addr = e.Site
	return slices.Clip(calls)
}
