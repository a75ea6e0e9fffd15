package lime

import (
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profile"
)

// sources says which places in the code come from the same place in the
// source, with inlined also from the same calls around it: the first of the
// blocks that do stands for all. A block whose source is not known stands for
// itself.
type sources struct {
	last           []profile.BlockID // by block: by the line of its last instruction
	start          []profile.BlockID // by block: by the line and column of its first, or of that of where it only jumps to
	loop           []profile.BlockID // by head: by the line of its first latch
	byLast, byLoop flowgraph.Lists   // the blocks that one stands for
	unfolded       []bool            // by block: it decides in a function that was inlined into itself
}

func newSources(p *profile.Profile, g *graph, inlined bool) *sources {
	n := len(p.Graph.Blocks)
	s := &sources{last: make([]profile.BlockID, n), start: make([]profile.BlockID, n), loop: make([]profile.BlockID, n), unfolded: make([]bool, n)}
	for b := range profile.BlockID(n) {
		s.last[b], s.start[b], s.loop[b] = b, b, b
	}
	if len(p.Locations) > 0 {
		s.find(p, g, inlined)
		if inlined {
			s.findUnfolded(p)
		}
	}
	s.byLast = flowgraph.NewLists(n, n, func(b int) int { return int(s.last[b]) })
	s.byLoop = flowgraph.NewLists(n, n, func(b int) int {
		if g.headed(profile.BlockID(b)) < 0 {
			return -1
		}
		return int(s.loop[b])
	})
	return s
}

// find reads the source lines.
func (s *sources) find(p *profile.Profile, g *graph, inlined bool) {
	n := len(p.Graph.Blocks)
	bodies := map[string]bool{} // functions that threads begin in
	for i := range p.Threads {
		if l, ok := p.Location(p.Threads[i].Start); ok && l.Function != "" {
			bodies[l.Function] = true
		}
	}
	names := newNames(bodies, inlined)
	last, start := make([]int32, n), make([]int32, n)
	for b := range n {
		x := &p.Graph.Blocks[b]
		if l, ok := p.Location(x.Last); ok && l.Known() && !x.Virtual {
			last[b] = names.line(&l)
		}
		if l, ok := p.Location(p.Graph.Blocks[g.onto(profile.BlockID(b))].Start); ok && l.Known() {
			start[b] = names.pair(int32(l.Column), names.line(&l))
		}
	}
	latch := make([]int32, n)
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if g.back[i] && g.within(e) && g.headed(e.To) >= 0 && latch[e.To] == 0 && last[e.From] != 0 {
			depth := int32(0) // loops on one line
			for l := g.headed(e.To); l >= 0; l = g.loops.All[l].Parent {
				depth++
			}
			latch[e.To] = names.pair(depth, last[e.From])
		}
	}
	names.standFor(s.last, last)
	names.standFor(s.start, start)
	names.standFor(s.loop, latch)
	if inlined {
		g.site = sourceCalls(p, names)
	}
}

// findUnfolded finds what decides in a function that calls itself and was inlined
// into itself, or into what first calls it.
func (s *sources) findUnfolded(p *profile.Profile) {
	in, own := make([]string, len(s.unfolded)), map[string]bool{}
	for b := range in {
		if l, ok := p.Location(p.Graph.Blocks[b].Last); ok && l.Known() && !p.Graph.Blocks[b].Virtual {
			in[b] = l.Function
			own[l.Function] = own[l.Function] || slices.ContainsFunc(l.InlinedAt, func(f profile.Frame) bool { return f.Function == l.Function })
		}
	}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if !e.Kind.IsCall() || e.From < 0 || e.To < 0 || in[e.From] == "" {
			continue
		}
		if l, ok := p.Location(p.Graph.Blocks[e.To].Start); ok && len(l.InlinedAt) == 0 && l.Function == in[e.From] &&
			p.Graph.Blocks[e.To].Function != p.Graph.Blocks[e.From].Function {
			own[l.Function] = true
		}
	}
	for b, f := range in {
		s.unfolded[b] = f != "" && own[f]
	}
}

// sourceCalls says which calls come from the same place in the source.
func sourceCalls(p *profile.Profile, names *names) []int32 {
	site, at := make([]int32, len(p.Graph.Edges)), map[int32]int32{}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		site[i] = int32(i)
		if !e.Kind.IsCall() || e.From < 0 {
			continue
		}
		if l, ok := p.Location(e.Site); ok && l.Known() {
			name := names.pair(int32(l.Column), names.line(&l))
			if _, seen := at[name]; !seen {
				at[name] = int32(i)
			}
			site[i] = at[name]
		}
	}
	return site
}
