package lime

import (
	"fmt"
	"slices"
	"strings"

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
		s.findUnfolded(p)
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
	line := func(l *profile.Location) string {
		if !inlined {
			l.InlinedAt = nil
		}
		return sourceLine(l, bodies)
	}
	last, start := make([]string, n), make([]string, n)
	for b := range n {
		x := &p.Graph.Blocks[b]
		if l, ok := p.Location(x.Last); ok && l.Known() && !x.Virtual {
			last[b] = line(&l)
		}
		if l, ok := p.Location(p.Graph.Blocks[g.onto(profile.BlockID(b))].Start); ok && l.Known() {
			start[b] = fmt.Sprint(l.Column, " ", line(&l))
		}
	}
	latch := make([]string, n)
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if g.back[i] && g.within(e) && g.headed(e.To) >= 0 && latch[e.To] == "" && last[e.From] != "" {
			depth := 0 // loops on one line
			for l := g.headed(e.To); l >= 0; l = g.loops.All[l].Parent {
				depth++
			}
			latch[e.To] = fmt.Sprint(depth, " ", last[e.From])
		}
	}
	standFor(s.last, last)
	standFor(s.start, start)
	standFor(s.loop, latch)
	if inlined {
		g.site = sourceCalls(p, bodies)
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
func sourceCalls(p *profile.Profile, bodies map[string]bool) []int32 {
	site, at := make([]int32, len(p.Graph.Edges)), map[string]int32{}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		site[i] = int32(i)
		if !e.Kind.IsCall() || e.From < 0 {
			continue
		}
		if l, ok := p.Location(e.Site); ok && l.Known() {
			name := fmt.Sprint(l.Column, " ", sourceLine(&l, bodies))
			if _, seen := at[name]; !seen {
				at[name] = int32(i)
			}
			site[i] = at[name]
		}
	}
	return site
}

// standFor makes the first block with a name stand for all that have it.
func standFor(of []profile.BlockID, name []string) {
	at := map[string]profile.BlockID{}
	for b, n := range name {
		if n == "" {
			continue
		}
		if _, ok := at[n]; !ok {
			at[n] = profile.BlockID(b)
		}
		of[b] = at[n]
	}
}

// sourceLine names a source line and the calls that it was inlined at. Where a
// function that threads begin in was inlined in turn, the calls around that
// are left out: one thread then runs its own copy of what all run.
func sourceLine(l *profile.Location, bodies map[string]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%d\x00%s", l.File, l.Line, l.Function)
	in := l.Function
	for _, at := range l.InlinedAt {
		if bodies[in] {
			break
		}
		fmt.Fprintf(&b, "\x00%s\x00%d\x00%s", at.File, at.Line, at.Function)
		in = at.Function
	}
	return b.String()
}
