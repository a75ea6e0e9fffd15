package lime

import (
	"fmt"
	"strings"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profile"
)

// sources says which places in the code come from the same place in the
// source: the first of the blocks that do stands for all. A block whose source
// is not known stands for itself.
type sources struct {
	last           []profile.BlockID // by block: by the line of its last instruction
	start          []profile.BlockID // by block: by the line and column of its first
	loop           []profile.BlockID // by head: by the line of its first latch
	byLast, byLoop flowgraph.Lists   // the blocks that one stands for
}

func newSources(p *profile.Profile, g *graph) *sources {
	n := len(p.Graph.Blocks)
	s := &sources{last: make([]profile.BlockID, n), start: make([]profile.BlockID, n), loop: make([]profile.BlockID, n)}
	for b := range profile.BlockID(n) {
		s.last[b], s.start[b], s.loop[b] = b, b, b
	}
	if len(p.Locations) > 0 {
		s.find(p, g)
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
func (s *sources) find(p *profile.Profile, g *graph) {
	n := len(p.Graph.Blocks)
	bodies := map[string]bool{} // functions that threads begin in
	for i := range p.Threads {
		if l, ok := p.Location(p.Threads[i].Start); ok && l.Function != "" {
			bodies[l.Function] = true
		}
	}
	r := newRoots(p)
	last, start := make([]string, n), make([]string, n)
	for b := range n {
		x := &p.Graph.Blocks[b]
		if l, ok := p.Location(x.Last); ok && l.Known() && !x.Virtual {
			last[b] = r.line(x.Function, &l, bodies)
		}
		if l, ok := p.Location(x.Start); ok && l.Known() {
			start[b] = fmt.Sprint(l.Column, " ", r.line(x.Function, &l, bodies))
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
	g.site = r.callSites(p, bodies)
}

// callSites says which calls come from the same place in the source.
func (r *roots) callSites(p *profile.Profile, bodies map[string]bool) []int32 {
	site, at := make([]int32, len(p.Graph.Edges)), map[string]int32{}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		site[i] = int32(i)
		if !e.Kind.IsCall() || e.From < 0 {
			continue
		}
		if l, ok := p.Location(e.Site); ok && l.Known() {
			name := fmt.Sprint(l.Column, " ", r.line(p.Graph.Blocks[e.From].Function, &l, bodies))
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

// roots are the functions that threads come into from outside. What all
// threads do may be inlined into several of them, into main too where the
// first thread takes part.
type roots struct {
	is     []bool            // by function
	behind map[string]string // function and line without the root's own call → the line with it; "": several
}

// newRoots finds the roots, and which of the lines inlined into them are known
// without the call that stands in the root itself: those with one such call.
func newRoots(p *profile.Profile) *roots {
	r := &roots{is: make([]bool, len(p.Graph.Functions)), behind: map[string]string{}}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if e.Kind != profile.Start || e.Count < 0 {
			continue
		}
		for t := range p.Threads {
			if p.Threads[t].Totals.Of(e.Count) > 0 {
				r.is[p.Graph.Blocks[e.To].Function] = true
			}
		}
	}
	for b := range p.Graph.Blocks {
		x := &p.Graph.Blocks[b]
		if !r.is[x.Function] {
			continue
		}
		for _, a := range [2]profile.Addr{x.Start, x.Last} {
			if l, ok := p.Location(a); ok && l.Known() && len(l.InlinedAt) > 0 {
				full, key := sourceLine(&l, len(l.InlinedAt)), r.key(x.Function, &l)
				if old, seen := r.behind[key]; seen && old != full {
					full = ""
				}
				r.behind[key] = full
			}
		}
	}
	return r
}

func (r *roots) key(f profile.FunctionID, l *profile.Location) string {
	return fmt.Sprint(f, " ", sourceLine(l, within(l)))
}

// within counts the calls that a line was inlined at without those that bring
// a thread there: in the library's headers, or else the one in the root.
func within(l *profile.Location) int {
	n := len(l.InlinedAt)
	for n > 0 && systemHeader(l.InlinedAt[n-1].File) {
		n--
	}
	if n == len(l.InlinedAt) {
		n--
	}
	return n
}

// systemHeader reports whether a file is not the user's.
func systemHeader(file string) bool {
	return strings.HasPrefix(file, "/usr/") || strings.Contains(file, "/include/c++/")
}

// line names a source line in a function, and the calls that it was inlined at.
// Where a function that threads begin in was inlined in turn, the calls around
// that are left out: one thread then runs its own copy of what all run. So it
// is where the threads' roots each inlined what all run, by one call.
func (r *roots) line(f profile.FunctionID, l *profile.Location, bodies map[string]bool) string {
	n := len(l.InlinedAt)
	if n > 0 && r.is[f] && r.behind[r.key(f, l)] != "" {
		n = within(l)
	}
	in := l.Function
	for i := range n {
		if bodies[in] {
			n = i
			break
		}
		in = l.InlinedAt[i].Function
	}
	return sourceLine(l, n)
}

// sourceLine names a source line and the first n calls that it was inlined at.
func sourceLine(l *profile.Location, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%d\x00%s", l.File, l.Line, l.Function)
	for _, at := range l.InlinedAt[:n] {
		fmt.Fprintf(&b, "\x00%s\x00%d\x00%s", at.File, at.Line, at.Function)
	}
	return b.String()
}
