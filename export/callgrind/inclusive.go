package callgrind

import (
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/skewlens/skewlens/profile"
)

// inclusive is what calls cost with everything that was called from there, in
// one thread, by call edge; absent where it is not known. It is of what was
// counted: not of libraries, nor of what these called back.
//
// The counts tell it where a function was entered from one place only: then
// all that it executed was for this call. Functions that call each other in a
// cycle are one in this; what they cost is the cost of the call into the cycle.
type inclusive map[int]uint64

// calls are the edges that ran from function to function in a thread.
type calls struct {
	from, into [][]int // edges, by function
	outside    []bool  // it was also entered from elsewhere, or may have been
}

func (c *writer) calls() calls {
	g := &c.p.Graph
	n := len(g.Functions)
	cs := calls{make([][]int, n), make([][]int, n), make([]bool, n)}
	for i := range g.Edges {
		e := &g.Edges[i]
		if !e.Kind.IsCall() && e.Kind != profile.Start {
			continue
		}
		if e.To == profile.NoBlock || e.Count != profile.NoEvent && c.counts.Of(e.Count) == 0 {
			continue
		}
		to := g.Blocks[e.To].Function
		if e.Kind == profile.Start || e.Count == profile.NoEvent {
			cs.outside[to] = true
			continue
		}
		from := g.Blocks[e.From].Function
		cs.from[from], cs.into[to] = append(cs.from[from], i), append(cs.into[to], i)
	}
	return cs
}

func (c *writer) inclusive() inclusive {
	g := &c.p.Graph
	cs, graph := c.calls(), simple.NewDirectedGraph()
	for f := range cs.from {
		for _, i := range cs.from[f] {
			to := int64(g.Blocks[g.Edges[i].To].Function)
			if to != int64(f) && !graph.HasEdgeFromTo(int64(f), to) {
				graph.SetEdge(graph.NewEdge(simple.Node(f), simple.Node(to)))
			}
		}
		if len(cs.into[f]) > 0 && graph.Node(int64(f)) == nil { // only itself calls it, or it calls nobody
			graph.AddNode(simple.Node(f))
		}
	}
	in := inclusive{}
	// Components come in reverse topological order: those that are called first.
	for _, component := range topo.TarjanSCC(graph) {
		members := make(map[profile.FunctionID]bool, len(component))
		for _, n := range component {
			members[profile.FunctionID(n.ID())] = true
		}
		in.add(c, cs, members)
	}
	return in
}

// add finds what the call into a cycle of functions (mostly a single function)
// costs, once that is known of all calls out of it.
func (in inclusive) add(c *writer, cs calls, members map[profile.FunctionID]bool) {
	g := &c.p.Graph
	entry, entries, sum := 0, 0, uint64(0)
	for f := range members {
		if cs.outside[f] {
			return
		}
		for _, i := range cs.into[f] {
			if !members[g.Blocks[g.Edges[i].From].Function] {
				entry, entries = i, entries+1
			}
		}
		for _, i := range cs.from[f] {
			if members[g.Blocks[g.Edges[i].To].Function] {
				continue
			}
			n, known := in[i]
			if !known {
				return
			}
			sum += n
		}
	}
	if entries != 1 {
		return
	}
	for f := range members {
		sum += c.self(f)
	}
	in[entry] = sum
}

func (c *writer) self(f profile.FunctionID) (n uint64) {
	fn := &c.p.Graph.Functions[f]
	for b := fn.First; b < fn.First+profile.BlockID(fn.N); b++ {
		for _, k := range c.costs(b) {
			n += k.n
		}
	}
	return n
}
