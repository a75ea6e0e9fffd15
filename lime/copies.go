package lime

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/internal/flowgraph"
	"github.com/skewlens/skewlens/profile"
)

// Compilers copy code: loops are unrolled, functions inlined and specialised.
// A decision that was written once then stands in several places, each with a
// part of the counts, and each may explain next to nothing. Leaders whose
// deciding instructions have the same source line and were inlined at the same
// calls are copies of one, and so is their cost, the sum.

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
	last, start := make([]string, n), make([]string, n)
	for b := range n {
		x := &p.Graph.Blocks[b]
		if l, ok := p.Location(x.Last); ok && l.Known() && !x.Virtual {
			last[b] = line(&l, bodies)
		}
		if l, ok := p.Location(x.Start); ok && l.Known() {
			start[b] = fmt.Sprint(l.Column, " ", line(&l, bodies))
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
	first(s.last, last)
	first(s.start, start)
	first(s.loop, latch)
}

// first makes the first block with a name stand for all that have it.
func first(of []profile.BlockID, name []string) {
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

// line names a source line and the calls that it was inlined at. Where a
// function that threads begin in was inlined in turn, the calls around that
// are left out: one thread then runs its own copy of what all run.
func line(l *profile.Location, bodies map[string]bool) string {
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

// key returns what instances know a leader by.
func (s *sources) key(x *leader) key {
	k := x.key()
	switch x.kind {
	case Branch:
		k.v, k.to = s.last[x.v], s.start[x.to]
	case Loop:
		if x.cycle == nil {
			k.v = s.loop[x.v]
		}
	}
	return k
}

// withCopies adds to leaders those that stand for several copies. Which of
// them explain T is for the pursuit to say: two branches of one line may also
// do different things, as the test before a loop and the one in it.
func (f *finder) withCopies(all []leader) []leader {
	out := slices.Clip(all)
	for _, x := range f.joinCopies(all) {
		if len(x.copies) > 0 && !slices.ContainsFunc(all, func(y leader) bool { return y.key() == x.key() && len(y.copies) > 0 }) {
			out = append(out, x)
		}
	}
	return out
}

// keys flowgraph.Lists a leader and its copies.
func (x *leader) keys() []key {
	ks := []key{x.key()}
	for i := range x.copies {
		ks = append(ks, x.copies[i].key())
	}
	return ks
}

// shares reports whether two leaders stand for some same decision.
func (x *leader) shares(y *leader) bool {
	if len(x.copies) == 0 && len(y.copies) == 0 {
		return x.key() == y.key()
	}
	ks := x.keys()
	return slices.ContainsFunc(y.keys(), func(k key) bool { return slices.Contains(ks, k) })
}

// joinCopies makes one leader of those that are copies of each other. The one
// that costs most speaks for all.
func (f *finder) joinCopies(all []leader) []leader {
	var out []leader
	at := map[key]int{}
	for _, x := range all {
		k := f.src.key(&x)
		if i, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, x)
		} else if f.apart(&out[i], &x) {
			out[i] = f.join(out[i], x)
		} else {
			out = append(out, x)
		}
	}
	return out
}

func (f *finder) join(a, b leader) leader {
	if floats.Sum(b.k) > floats.Sum(a.k) {
		a, b = b, a
	}
	sum := func(x, y []float64) []float64 { return floats.AddTo(make([]float64, len(x)), x, y) }
	a.copies = append(append(a.copies, b), b.copies...)
	a.k, a.n, a.in, a.own = sum(a.k, b.k), sum(a.n, b.n), sum(a.in, b.in), sum(a.own, b.own)
	a.r = f.r(a.n)
	a.s = f.score(&a)
	return a
}

// together looks at decisions again to which their own in-flow seems to bring
// the difference. Where threads run different copies of the same code
// everything in a copy goes with who runs it; only the copies together show
// where the difference arises.
func (f *finder) together(late []leader) []leader {
	var tried []leader
	for _, x := range late {
		if f.steers(&x, f.g.headed(x.v) >= 0) {
			tried = append(tried, x)
		}
	}
	var out []leader
	for _, x := range f.joinCopies(tried) {
		n, several := f.everywhere(&x)
		if !several || !f.t.varies(n) {
			continue
		}
		goes := func(flow []float64) bool {
			return floats.Dot(f.t.unit(flow), f.t.unit(n)) >= f.stop && f.pays(x.v, flow, n)
		}
		if !goes(x.in) && goes(x.own) == (x.kind == Loop) {
			x.s = f.score(&x)
			out = append(out, x)
		}
	}
	return out
}

// everywhere counts what comes to a decision in all copies of it that the
// instance ran, also where no difference shows, and how often they led where x
// leads. several is false when there is but one.
func (f *finder) everywhere(x *leader) (n []float64, several bool) {
	var blocks []int32
	switch {
	case x.kind == Branch:
		blocks = f.src.byLast.Of(int(f.src.last[x.v]))
	case x.kind == Loop && x.cycle == nil:
		blocks = f.src.byLoop.Of(int(f.src.loop[x.v]))
	}
	cols, ran := f.t.cols(), 0
	in, own := make([]float64, cols), make([]float64, cols)
	n = make([]float64, cols)
	for _, b := range blocks {
		v := profile.BlockID(b)
		if f.c.at[v] < 0 {
			continue
		}
		led := false
		for _, i := range f.g.outs.Of(int(v)) {
			e := &f.g.p.Graph.Edges[i]
			if c := f.t.of(e.Count); countable(f.g, e) && f.src.start[e.To] == f.src.start[x.to] && c != nil {
				floats.Add(n, c)
				led = true
			}
		}
		if !led {
			continue
		}
		a, c := f.c.inflow(v), f.count(v)
		if a == nil || c == nil {
			return nil, false
		}
		floats.Add(in, a)
		floats.Add(own, c)
		ran++
	}
	if ran > 1 {
		x.in, x.own = in, own
	}
	return n, ran > 1
}

// apart reports whether the costs of a, with its copies, and b have nothing
// in common: neither is among what the other decides.
func (f *finder) apart(a, b *leader) bool {
	if f.decides(a, b.v) || f.decides(b, a.v) {
		return false
	}
	for i := range a.copies {
		if c := &a.copies[i]; f.decides(c, b.v) || f.decides(b, c.v) {
			return false
		}
	}
	return true
}

// decides reports whether v is executed because of what x decided, as far as
// the graph can tell.
func (f *finder) decides(x *leader, v profile.BlockID) bool {
	a, b := f.g.compOf(x.v), f.g.compOf(v)
	switch {
	case x.v == v:
		return true
	case a != b:
		return f.g.reaches(a, b)
	case x.kind == Loop && x.cycle != nil:
		return x.cycle.has(v)
	case x.kind == Loop:
		return f.g.inLoop(v, f.g.headed(x.v))
	case x.edge >= 0 && f.g.back[x.edge]:
		return f.g.headed(x.to) < 0 || f.g.inLoop(v, f.g.headed(x.to))
	}
	return f.g.dominates(x.to, v)
}
