package solve

import (
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Exceptions. That control came to a landing pad is counted; where it came
// from is not, but follows where nothing else is possible. The tables of the
// unwinder say which calls of a function lead to which pad; a call threw as
// often, in all threads' lives, as it was made and did not come back. So, from
// a pad down to what its calls called:
//
//	pad ◀── the calls in its function that threw ◀── the throws in what they called …
//
// until calls are reached that only throw. If these threw as often as
// exceptions came to the pad, each is where an edge to it begins, with its
// block's count. If there are several, but only one call can have thrown at
// some step, that is where the one edge begins, with the pad's own count. Else
// nobody knows, and the exception comes from START.

// padOf is a landing pad.
type padOf struct {
	flow  int32 // its edge in the network
	edge  int32 // … in the function's part of the graph
	block int32
}

// throwOf is a call through which an exception may have passed.
type throwOf struct {
	block  int32
	flow   int32 // the edge of the network that counts exceptions: of never coming back
	pad    int32 // the block of the function in which they land; −1: in a caller
	throws bool  // it does nothing else
	site   uint64
}

// addThrows notes the calls through which exceptions may pass.
func (b *builder) addThrows() {
	for _, k := range b.g.Blocks {
		if len(k.Calls) == 0 || !k.Last().Kind.IsCall() {
			continue
		}
		c := &k.Calls[len(k.Calls)-1]
		t := throwOf{block: int32(k.ID), flow: b.w.Block(k), pad: -1, throws: c.NoReturn && raises(c), site: c.Insn.Addr + b.base}
		if !c.NoReturn {
			i := slices.IndexFunc(k.Succ, func(e *cfg.Edge) bool { return e.Kind == cfg.Caught })
			if i < 0 {
				continue
			}
			t.flow = b.w.Edge(k.Succ[i])
		}
		if to := b.g.BlockAt(b.s.Program.Image.LandingOf(c.Insn.End() - 1)); to != nil {
			t.pad = int32(to.ID)
		}
		b.x.throws = append(b.x.throws, t)
	}
}

// raises reports whether a call that does not return raises an exception, or
// lets one go on.
func raises(c *cfg.Call) bool {
	switch name := c.Import; name {
	case "__cxa_throw", "__cxa_rethrow", "_Unwind_Resume", "__cxa_throw_bad_array_new_length", "__cxa_bad_cast", "__cxa_bad_typeid":
		return c.Insn.Kind == x86.Call || c.Insn.Kind == x86.CallInd
	default:
		return strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "__throw_")
	}
}

// sum adds a thread's life to the totals.
func (x *function) sum(val []int64) {
	if x.total == nil {
		x.total = make([]int64, len(val))
	}
	for i, n := range val {
		x.total[i] += n
	}
}

// passed is how often an edge of the network was, in all; −1: unknown.
func (x *function) passed(flow int32) int64 {
	switch {
	case flow < 0 || x.edges[flow].unknown:
		return -1
	case x.total == nil:
		return 0
	}
	return x.total[flow]
}

// source is a call of a function, through which exceptions passed.
type source struct {
	x *function
	*throwOf
}

func (s source) passed() int64 { return s.x.passed(s.flow) }

// sources are the calls of a function that threw, or may have, so that the
// exceptions landed at a block of it, or (−1) in a caller: also those past a
// pad that nothing ever came to, which catches something else.
func (x *function) sources(pad int32) (list []source) {
	for i := range x.throws {
		t := &x.throws[i]
		if x.passed(t.flow) != 0 && (t.pad == pad || pad < 0 && x.unused(t.pad)) {
			list = append(list, source{x, t})
		}
	}
	return list
}

// unused reports whether nothing ever came to a pad.
func (x *function) unused(pad int32) bool {
	return slices.ContainsFunc(x.pads, func(p padOf) bool { return p.block == pad && x.passed(p.flow) == 0 })
}

// thrown is an edge by which exceptions came to a pad, and the call that threw them.
type thrown struct {
	edge
	by source
}

// caught are the edges to a pad, in a function's part of the graph.
type caught struct{ fn, edge int32 }

// catch finds the edges that lead exceptions from where they were thrown to
// where they landed: instead of those from START.
func (v *Solver) catch() map[caught][]thrown {
	all := map[caught][]thrown{}
	for _, x := range v.funcs {
		if x == nil || v.broken[x.fn] {
			continue
		}
		for _, p := range x.pads {
			if n := x.passed(p.flow); n > 0 {
				all[caught{x.fn, p.edge}] = v.landings(x, p, n)
			}
		}
	}
	return all
}

// landings are the edges by which n exceptions came to a pad; none where
// nobody knows.
func (v *Solver) landings(x *function, p padOf, n int64) (edges []thrown) {
	list := x.sources(p.block)
	add := func(from, through source) {
		e := x.graph[p.edge]
		e.site = through.site
		edges = append(edges, thrown{e, from})
	}
	left := n
	for _, s := range list {
		k := s.passed()
		throws, sure := v.origins([]source{s}, k, 0)
		if !sure {
			if len(list) > 1 || k != n {
				return nil
			}
			throws = []source{v.only(s, n)}
		}
		left -= k
		for _, t := range throws {
			add(t, s)
		}
	}
	if left != 0 {
		return nil
	}
	if len(edges) > 1 { // each has the count of its throw
		for i := range edges {
			t := &edges[i].by
			if edges[i].event = t.x.blocks[t.block].count; edges[i].event == profile.NoEvent {
				return nil
			}
		}
	}
	return edges
}

// deepest is how many calls an exception is followed back.
const deepest = 64

// origins are the throws behind some calls, through which n exceptions came;
// sure is false where these are not all of them, or threw others too.
func (v *Solver) origins(list []source, n int64, depth int) (all []source, sure bool) {
	if depth == deepest {
		return nil, false
	}
	for _, s := range list {
		k := s.passed()
		if k < 0 || v.broken[s.x.fn] {
			return nil, false
		}
		n -= k
		if s.throws {
			all = append(all, s)
			continue
		}
		behind, sure := v.origins(v.behind(s), k, depth+1)
		if !sure {
			return nil, false
		}
		all = append(all, behind...)
	}
	return all, n == 0 && len(list) > 0
}

// only is the last place on the way back from a call that n exceptions can
// have come through, as long as there is but one at each step.
func (v *Solver) only(s source, n int64) source {
	for range deepest {
		behind := v.behind(s)
		if s.throws || len(behind) != 1 || behind[0].passed() < n || v.broken[behind[0].x.fn] {
			return s
		}
		s = behind[0]
	}
	return s
}

// behind are the calls, in what a call called, whose exceptions came out
// there; none where that is not all counted.
func (v *Solver) behind(s source) (list []source) {
	known := false
	for i := range s.x.graph {
		e := &s.x.graph[i]
		if e.site != s.site || !e.kind.IsCall() {
			continue
		}
		known = e.kind == profile.Call && e.callee >= 0 && v.funcs[e.callee] != nil
		if known {
			list = append(list, v.funcs[e.callee].sources(-1)...)
		}
	}
	if !known {
		return nil
	}
	return list
}
