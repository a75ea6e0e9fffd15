package report

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
)

// paths adds to each cause how the thread that met it most came there.
//
// The counts say how often a call was made, not for whom. So a path is the
// likeliest, not the only one: from the function that holds the cause, again
// and again by the call that the thread made most.
func (b *builder) paths(s *Section, of *profile.Section, threads []profile.Part, at []profile.Addr) {
	if len(s.Causes) == 0 {
		return
	}
	if b.calling == nil {
		b.calling, b.lives, b.blocks = callers(&b.p.Graph), b.p.ThreadCounts(), b.p.Graph.IndexBlocks()
	}
	for i := range s.Causes {
		c := &s.Causes[i]
		most := 0
		for t := range s.Threads {
			if n, m := countOf(c, t), countOf(c, most); n > m || n == m && s.Threads[t].Instructions > s.Threads[most].Instructions {
				most = t
			}
		}
		k := callerSearch{b: b, seen: map[profile.FunctionID]bool{}}
		if most >= len(s.Threads) || !k.thread(b.oneOf(of, s.Threads, most), threads) {
			continue
		}
		if holds := b.blocks.At(at[i]); holds != profile.NoBlock {
			c.Path = k.path(b.p.Graph.Blocks[holds].Function)
			k.outwards(s, c)
		}
	}
}

// oneOf is the thread of a slot: of several, the one that did most at once.
func (b *builder) oneOf(of *profile.Section, rows []Thread, row int) profile.ThreadID {
	if id := rows[row].of; id >= 0 {
		return id
	}
	best, most := profile.ThreadID(-1), uint64(0)
	for i := range of.Instances {
		in := &of.Instances[i]
		for k := range in.Parts {
			if q := &in.Parts[k]; in.Folded <= 1 && int(q.Slot) == rows[row].Slot {
				if n := b.p.Instructions(q.Counts); best < 0 || n > most {
					best, most = q.Thread, n
				}
			}
		}
	}
	return best
}

func countOf(c *Cause, t int) uint64 {
	if t < len(c.Counts) {
		return c.Counts[t]
	}
	return 0
}

// callers are the edges that enter each function from within the graph.
func callers(g *profile.Graph) [][]int {
	out := make([][]int, len(g.Functions))
	for i := range g.Edges {
		if e := &g.Edges[i]; e.Kind.IsCall() && e.To != profile.NoBlock && e.From != profile.NoBlock {
			to := g.Blocks[e.To].Function
			out[to] = append(out[to], i)
		}
	}
	return out
}

// callerSearch looks for the calls that lead from a thread's start to a function.
type callerSearch struct {
	b       *builder
	t       *profile.Thread
	section profile.Counts // of the thread in the section
	life    profile.Counts // and in all: the call into the section's code may be older than the section
	seen    map[profile.FunctionID]bool
	chain   []int // call edges, innermost first
	longest []int
}

func (k *callerSearch) thread(id profile.ThreadID, parts []profile.Part) bool {
	for i := range k.b.p.Threads {
		if k.b.p.Threads[i].ID == id {
			k.t, k.life = &k.b.p.Threads[i], k.b.lives[i]
		}
	}
	for i := range parts {
		if parts[i].Thread == id {
			k.section = parts[i].Counts
		}
	}
	if k.t != nil && k.t.With != 0 { // what it did by itself is known where it met others
		k.life = k.section
	}
	return k.t != nil
}

// begins reports whether the thread begins in a function.
func (k *callerSearch) begins(f profile.FunctionID) bool {
	g := &k.b.p.Graph
	if k.t.Start != 0 {
		if b := k.b.blocks.At(k.t.Start); b != profile.NoBlock { // in a library's code, where the user's was inlined
			return g.Blocks[b].Function == f
		}
		return g.Functions[f].Entry == k.t.Start
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.Kind == profile.Start && e.Count != profile.NoEvent && g.Blocks[e.To].Function == f && k.life.Of(e.Count) > 0 {
			return true
		}
	}
	return false
}

// up goes to the callers of a function, those that called most first, and back
// where there is no way on: every function is tried once.
func (k *callerSearch) up(f profile.FunctionID) bool {
	if k.begins(f) {
		return true
	}
	k.seen[f] = true
	g := &k.b.p.Graph
	calls := slices.DeleteFunc(slices.Clone(k.b.calling[f]), func(i int) bool { return k.made(i, k.life) == 0 })
	sort.SliceStable(calls, func(i, j int) bool {
		if x, y := k.made(calls[i], k.section), k.made(calls[j], k.section); x != y {
			return x > y
		}
		return k.made(calls[i], k.life) > k.made(calls[j], k.life)
	})
	for _, i := range calls {
		from := g.Blocks[g.Edges[i].From].Function
		if k.seen[from] {
			continue
		}
		k.chain = append(k.chain, i)
		if k.up(from) {
			return true
		}
		if len(k.chain) > len(k.longest) {
			k.longest = slices.Clone(k.chain)
		}
		k.chain = k.chain[:len(k.chain)-1]
	}
	return false
}

// made is how often a call was made, by some counts; where nobody counted it, how
// often its function was entered by none that was counted.
func (k *callerSearch) made(edge int, c profile.Counts) uint64 {
	g := &k.b.p.Graph
	if e := g.Edges[edge].Count; e != profile.NoEvent {
		return c.Of(e)
	}
	to := g.Edges[edge].To
	if g.Blocks[to].Count == profile.NoEvent {
		return 0
	}
	n := c.Of(g.Blocks[to].Count)
	for _, i := range k.b.calling[g.Blocks[to].Function] {
		if e := g.Edges[i].Count; e != profile.NoEvent {
			n -= min(n, c.Of(e))
		}
	}
	return n
}

// path is what was found; nil is nothing. Where the start was not reached, the
// function was called back by a library or by code that was not counted.
func (k *callerSearch) path(f profile.FunctionID) *Path {
	out := &Path{Calls: []Place{}}
	out.Rank, out.Thread = k.b.rankOf(k.t.ID)
	g := &k.b.p.Graph
	var chain []int
	if k.up(f) {
		if chain = k.chain; len(chain) > 0 {
			f = g.Blocks[g.Edges[chain[len(chain)-1]].From].Function
		}
		at := g.Functions[f].Entry
		if k.t.Start != 0 {
			at = k.t.Start
		}
		start := k.b.count(startPlace(k.b.p, at)).Place
		out.Start = &start
	} else if chain = k.longest; len(chain) == 0 {
		return nil
	}
	for _, i := range chain {
		l := k.b.location(g.Edges[i].Site)
		for _, p := range append([]Place{l.Place}, l.InlinedAt...) {
			if !p.system() {
				out.Calls = append(out.Calls, p)
			}
		}
	}
	if len(out.Calls) == 0 && out.Start == nil {
		return nil
	}
	return out
}
