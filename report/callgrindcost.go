package report

import "github.com/skewlens/skewlens/profile"

// inclusive is what calls cost with everything that was called from there, in
// one thread, as far as the counts tell. They do where a function was entered
// from one place only: then all that it executed was for this call.
type inclusive struct {
	edge map[int]uint64 // by call edge; absent: not known
}

func (in inclusive) of(edge int) (uint64, bool) {
	n, ok := in.edge[edge]
	return n, ok
}

// inclusive works from the functions that call nobody upwards. A library that
// calls back (a comparison, a handler) leaves no edge to say whom it worked
// for: in a thread that was entered from outside more than once, nothing is known.
func (c *callgrind) inclusive() inclusive {
	in := inclusive{map[int]uint64{}}
	g := &c.p.Graph
	entries, calls := make([][]int, len(g.Functions)), make([][]int, len(g.Functions))
	blind := make([]bool, len(g.Functions))
	starts := uint64(0)
	for i := range g.Edges {
		e := &g.Edges[i]
		switch e.Kind {
		case profile.Call, profile.Indirect, profile.TailCall, profile.Start:
		default:
			continue
		}
		if e.To == profile.NoBlock {
			continue
		}
		to := g.Blocks[e.To].Function
		if e.Count == profile.NoEvent {
			blind[to] = true
			continue
		}
		n := c.counts.Of(e.Count)
		if n == 0 {
			continue
		}
		entries[to] = append(entries[to], i)
		if e.Kind == profile.Start {
			starts += n
		} else {
			from := g.Blocks[e.From].Function
			calls[from] = append(calls[from], i)
		}
	}
	if starts != 1 {
		return in
	}
	in.climb(c, entries, calls, blind)
	return in
}

func (in inclusive) climb(c *callgrind, entries, calls [][]int, blind []bool) {
	g := &c.p.Graph
	// Callees first: repeat until nothing more becomes known. A function on a
	// cycle never does.
	waiting := []int{} // functions
	for f := range g.Functions {
		if len(entries[f]) == 1 && !blind[f] && g.Edges[entries[f][0]].Kind != profile.Start {
			waiting = append(waiting, f)
		}
	}
	for again := true; again; {
		again = false
		left := waiting[:0]
		for _, f := range waiting {
			n, ok := in.below(calls[f])
			if !ok {
				left = append(left, f)
				continue
			}
			in.edge[entries[f][0]], again = n+c.self(f), true
		}
		waiting = left
	}
}

// below is what the calls of a function cost together, if all are known.
func (in inclusive) below(calls []int) (n uint64, ok bool) {
	for _, e := range calls {
		inner, known := in.edge[e]
		if !known {
			return 0, false
		}
		n += inner
	}
	return n, true
}

func (c *callgrind) self(f int) (n uint64) {
	fn := &c.p.Graph.Functions[f]
	for b := fn.First; b < fn.First+profile.BlockID(fn.N); b++ {
		for _, k := range c.costs(b) {
			n += k.n
		}
	}
	return n
}
