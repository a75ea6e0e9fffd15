package lime

import (
	"slices"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profile"
)

// sources says which places in the code come from the same place in the
// source, with inlined also from the same calls around it: the first of the
// blocks that do stands for all. A block whose source is not known stands for
// itself, as does one that no section has to do with.
type sources struct {
	last           []profile.BlockID // by block: by the line of its last instruction
	start          []profile.BlockID // by block: by the line and column of its first, or of that of where it only jumps to
	loop           []profile.BlockID // by head: by the line of its first latch
	byLast, byLoop flowgraph.Lists   // the blocks that one stands for
	unfolded       []bool            // by block: it decides in a function that was inlined into itself
}

func newSources(p *profile.Profile, g *graph, at *placed, inlined bool) *sources {
	n := len(p.Graph.Blocks)
	s := &sources{last: make([]profile.BlockID, n), start: make([]profile.BlockID, n), loop: make([]profile.BlockID, n), unfolded: make([]bool, n)}
	for b := range profile.BlockID(n) {
		s.last[b], s.start[b], s.loop[b] = b, b, b
	}
	if len(p.Locations) > 0 {
		s.find(p, g, at, inlined)
		if inlined {
			s.findUnfolded(p, at)
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
func (s *sources) find(p *profile.Profile, g *graph, at *placed, inlined bool) {
	n, names, lines := len(p.Graph.Blocks), at.names, at.own
	if inlined {
		lines = at.inlined
	}
	last := make([]int32, n)
	for b := range n {
		if i := at.last[b]; i >= 0 && !p.Graph.Blocks[b].Virtual && g.concern(profile.BlockID(b)) {
			last[b] = lines[i]
		}
	}
	names.standFor(s.last, last)
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
	names.standFor(s.loop, latch)
	s.findStarts(p, g, at, lines)
	if inlined {
		g.site = sourceCalls(p, at)
	}
}

// findStarts reads where blocks begin, or those that they only jump to.
func (s *sources) findStarts(p *profile.Profile, g *graph, at *placed, lines []int32) {
	start := make([]int32, len(s.start))
	for b := range start {
		if !g.concern(profile.BlockID(b)) {
			continue
		}
		if i := at.start[g.onto(profile.BlockID(b))]; i >= 0 && lines[i] != 0 {
			start[b] = at.names.pair(int32(p.Locations[i].Column), lines[i])
		}
	}
	at.names.standFor(s.start, start)
}

// onto is where a block leads that is nothing but a jump, else the block itself.
func (g *graph) onto(b profile.BlockID) profile.BlockID {
	if x := &g.p.Graph.Blocks[b]; x.Instructions == 1 && !x.Virtual {
		if outs := g.outs.Of(int(b)); len(outs) == 1 {
			if e := &g.p.Graph.Edges[outs[0]]; e.Kind == profile.Jump && g.within(e) {
				return e.To
			}
		}
	}
	return b
}

// placed says where blocks stand among the profile's locations, and on which lines these are.
type placed struct {
	last, start  []int32 // by block: the location of its last instruction, of its first; −1: none
	site         []int32 // by edge: that of a call in what sections have to do with; −1: none
	own, inlined []int32 // by location: the line's number, the same with the calls around it; 0: not known, or of nothing that sections have to do with
	names        *names
}

func newPlaced(p *profile.Profile, g *graph) *placed {
	bodies := map[string]bool{} // functions that threads begin in
	for i := range p.Threads {
		if l, ok := p.Location(p.Threads[i].Start); ok && l.Function != "" {
			bodies[l.Function] = true
		}
	}
	n, near := len(p.Graph.Blocks), 0
	x := &placed{last: make([]int32, n), start: make([]int32, n), site: make([]int32, len(p.Graph.Edges))}
	asked := make([]bool, len(p.Locations))
	find := func(a profile.Addr, line bool) int32 {
		known := false
		if near, known = p.LocationNear(a, near); !known {
			return -1
		}
		asked[near] = asked[near] || line
		return int32(near)
	}
	for b := range n {
		line := g.concern(profile.BlockID(b))
		x.start[b] = find(p.Graph.Blocks[b].Start, line)
		x.last[b] = find(p.Graph.Blocks[b].Last, line)
	}
	for i := range p.Graph.Edges {
		x.site[i] = -1
		if e := &p.Graph.Edges[i]; e.Kind.IsCall() && e.From >= 0 && g.concern(e.From) {
			x.site[i] = find(e.Site, true)
		}
	}
	x.names = newNames(bodies, len(p.Locations)/4)
	x.own, x.inlined = x.names.lines(p.Locations, asked)
	return x
}

// findUnfolded finds what decides in a function that calls itself and was inlined
// into itself, or into what first calls it.
func (s *sources) findUnfolded(p *profile.Profile, at *placed) {
	in, own := make([]string, len(s.unfolded)), map[string]bool{}
	for b := range in {
		if i := at.last[b]; i >= 0 && p.Locations[i].Known() && !p.Graph.Blocks[b].Virtual {
			l := &p.Locations[i]
			in[b] = l.Function
			if slices.ContainsFunc(l.InlinedAt, func(f profile.Frame) bool { return f.Function == l.Function }) {
				own[l.Function] = true
			}
		}
	}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if !e.Kind.IsCall() || e.From < 0 || e.To < 0 || in[e.From] == "" || p.Graph.Blocks[e.To].Function == p.Graph.Blocks[e.From].Function {
			continue
		}
		if i := at.start[e.To]; i >= 0 && len(p.Locations[i].InlinedAt) == 0 && p.Locations[i].Function == in[e.From] {
			own[in[e.From]] = true
		}
	}
	for b, f := range in {
		s.unfolded[b] = f != "" && len(own) > 0 && own[f]
	}
}

// sourceCalls says which calls come from the same place in the source.
func sourceCalls(p *profile.Profile, at *placed) []int32 {
	site, first := make([]int32, len(p.Graph.Edges)), map[int32]int32{}
	for i := range p.Graph.Edges {
		site[i] = int32(i)
		if k := at.site[i]; k >= 0 && at.inlined[k] != 0 {
			name := at.names.pair(int32(p.Locations[k].Column), at.inlined[k])
			if _, seen := first[name]; !seen {
				first[name] = int32(i)
			}
			site[i] = first[name]
		}
	}
	return site
}
