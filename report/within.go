package report

import (
	"slices"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// A cause may lie in a function of the language's library that no compiler
// inlined: what std::sort does with a long array, a map with many keys, Go's
// regexp with a long text. Nobody changes it there, nor looks there: it stands
// at the program's call that led to it, and says what it lies in.

// outwards moves a cause in the system's code to the call in the program by which
// the thread that met it most came there, where it did so by no others to speak of.
func (k *callerSearch) outwards(s *Section, c *Cause) {
	if !c.Location.Known() || !c.Location.system() {
		return
	}
	chain := k.chain
	if len(chain) == 0 {
		chain = k.longest
	}
	for _, i := range chain {
		k.seen[k.b.p.Graph.Blocks[k.b.p.Graph.Edges[i].From].Function] = false // only what leads nowhere stays
	}
	for _, i := range chain {
		l := locate(k.b.p, k.b.p.Graph.Edges[i].Site) // which the path has counted
		if !l.Known() || !k.mostly(i) {
			return
		}
		if !l.system() {
			within := c.Location.Place
			c.Within, c.Location = &within, &l
			if c.Path != nil { // it begins here
				for _, p := range append([]Place{l.Place}, l.InlinedAt...) {
					if len(c.Path.Calls) > 0 && c.Path.Calls[0] == p {
						c.Path.Calls = c.Path.Calls[1:]
					}
				}
			}
			c.Message = message(s, c)
			return
		}
	}
}

// mostly reports whether of the calls that the thread made of a function four in
// five were made at one line, copies of a call counted as one, or, where that is not the
// program's, in one function: which of its ways a library goes is its own choice. Those of
// the recursion that it is part of are left aside, from which the search found no way on.
func (k *callerSearch) mostly(edge int) bool {
	g := &k.b.p.Graph
	from := func(i int) profile.FunctionID { return g.Blocks[g.Edges[i].From].Function }
	line := func(i int) (Place, bool) {
		l := locate(k.b.p, g.Edges[i].Site)
		return Place{File: l.File, Line: l.Line}, l.system()
	}
	to := g.Blocks[g.Edges[edge].To].Function
	here, library := line(edge)
	n, all := uint64(0), uint64(0)
	for _, i := range k.b.calling[to] {
		if f := from(i); f == to || k.seen[f] {
			continue
		}
		made := k.made(i, k.section)
		all += made
		at, also := line(i)
		if i == edge || at == here || library && also && from(i) == from(edge) {
			n += made
		}
	}
	return n > 0 && n >= all/5*4
}

// atOneCall are the causes, by their numbers, that the language's library decides because
// of one call of the program's: which of its ways makes the difference is nothing that
// anybody can mend one by one.
func (b *builder) atOneCall(s *Section, res *lime.Result) (groups [][]int) {
	at := map[Place]int{}
	for i := range s.Causes {
		l := s.Causes[i].Location
		in, known := b.p.Location(res.Causes[i].Addr)
		if !known || !in.Known() || !in.Frame.System() || !l.Known() || l.system() || s.Causes[i].Leader == string(lime.StartAt) || s.Causes[i].Leader == "" {
			continue
		}
		call := Place{File: l.File, Line: l.Line, Column: l.Column}
		k, seen := at[call]
		if !seen {
			k = len(groups)
			at[call], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) < 2 })
}
