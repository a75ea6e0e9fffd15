package lime

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// deals reports whether a decision is how often a thread takes the next piece
// of work from a store that all share (rule 19): it is a loop that is left
// where what was taken says that there is no more, or that exit itself. Who
// takes more is who was free; no line of the program decided it.
func (g *graph) deals(d decision) bool { return g.dealt(d) != nil }

// dealt is the loop that a decision deals the rounds of; nil: it deals none.
func (g *graph) dealt(d decision) (in func(profile.BlockID) bool) {
	v := d.out().block
	switch x := d.(type) {
	case cycle:
		if g.dealsIn(v, x.blocks.has) {
			return x.blocks.has
		}
	case loop: // it may share its head with one around it (rule 17)
		for _, i := range g.ins.Of(int(v)) {
			if e := &g.p.Graph.Edges[i]; !g.back[i] || !g.within(e) {
				continue
			}
			if c := g.cycle(v, []int32{i}); g.dealsIn(v, c.has) {
				return c.has
			}
		}
	case recursion:
		if g.p.Graph.Blocks[x.block].Deals {
			return func(b profile.BlockID) bool { return x.holds(g, b) }
		}
	case branch:
		return g.dealtBranch(x.outcome)
	case join: // elsewhere several ways lead to what the piece itself decides
		if v := x.block; g.p.Graph.Blocks[v].Deals && (g.meets(x.outcome) || g.allDeals(v)) {
			return g.dealtBranch(x.outcome)
		}
	}
	return nil
}

// dealtBranch is the same of a choice, by one way or several.
func (g *graph) dealtBranch(x outcome) (in func(profile.BlockID) bool) {
	v := x.block
	if !g.p.Graph.Blocks[v].Deals {
		return nil
	}
	in = g.innermost(v)
	if in != nil && in(x.to) && g.switches(v) {
		return nil
	}
	if g.meets(x) {
		if in := g.around(v); in != nil && g.dealsIn(v, in) {
			return in
		}
	}
	if head := g.guarded(x); head >= 0 {
		return g.innermost(head)
	}
	if in != nil && g.leaves(v, in) {
		return in
	}
	if g.allDeals(v) {
		return func(b profile.BlockID) bool { return g.p.Graph.Blocks[b].Function == g.p.Graph.Blocks[v].Function }
	}
	return nil
}

// meets reports whether the other ways lead to where an outcome leads, too: it decides
// nothing, as whether somebody waits for the lock that was let go. Parts may begin there, where
// pieces are taken in code that threads idle in.
func (g *graph) meets(x outcome) bool { return x.to >= 0 && g.postdominates(x.to, x.block) }

// allDeals reports whether a block's function does nothing but deal work out, as those of a
// library's pool: whatever it decides is who takes which piece.
func (g *graph) allDeals(v profile.BlockID) bool {
	for b := range g.beside(v) {
		if x := &g.p.Graph.Blocks[b]; !x.Deals && x.Count != profile.NoEvent {
			return false
		}
	}
	return true
}

// switches reports whether a block goes one of more than two ways: those that stay in the
// loop tell what was taken, not whether anything was.
func (g *graph) switches(b profile.BlockID) bool {
	ways := 0
	for _, i := range g.outs.Of(int(b)) {
		if !g.p.Graph.Edges[i].Kind.IsCall() {
			ways++
		}
	}
	return ways > 2
}

// guarded returns the head of the loop that a branch guards, if that deals as
// the branch does: compilers turn a loop round so that its test stands at its
// end, and once more before it, for the first piece. Else it is NoBlock.
func (g *graph) guarded(d outcome) profile.BlockID {
	for b := range g.beside(d.block) {
		in := g.innermost(b)
		if !g.p.Graph.Blocks[b].Deals || in == nil || in(d.block) {
			continue
		}
		head := profile.BlockID(g.loops.All[g.loops.Inner[b]].Head)
		if g.dominates(d.to, head) && g.leaves(b, in) {
			return head
		}
	}
	return profile.NoBlock
}

// dealsIn reports whether control leaves a set of blocks of v's function from
// one that deals, or from none, though one of them deals: then it goes round for ever,
// and how often is up to what there is to take.
func (g *graph) dealsIn(v profile.BlockID, in func(profile.BlockID) bool) bool {
	deals, left := false, false
	for b := range g.beside(v) {
		if !in(b) {
			continue
		}
		leaves := g.leaves(b, in)
		if g.p.Graph.Blocks[b].Deals {
			if deals = true; leaves {
				return true
			}
		}
		left = left || leaves
	}
	return deals && !left
}

func (g *graph) leaves(b profile.BlockID, in func(profile.BlockID) bool) bool {
	for _, i := range g.outs.Of(int(b)) {
		if e := &g.p.Graph.Edges[i]; !e.Kind.IsCall() && (e.To < 0 || !in(e.To)) {
			return true
		}
	}
	return false
}

// deciding are the leaders that may explain T. What threads take themselves
// goes first, as pieces of one size: T is less that cost from then on, for what
// is uneven among the pieces has a leader of its own.
func (a *analysis) deciding() []leader {
	all := a.leaders()
	var dealers []leader
	for _, x := range all {
		in := a.graph.dealt(x.decision)
		if in == nil {
			continue
		}
		if x.decision.kind() == Branch {
			if head := a.graph.guarded(x.out()); head >= 0 {
				x.taken = a.visits(head) // pieces, not rounds
			} else if a.graph.meets(x.out()) {
				x.taken = a.visits(x.out().to)
			}
			if x.taken == nil { // how often it was come to is not known
				continue
			}
		}
		x.cost = a.pieces(&x, in)
		dealers = append(dealers, x)
	}
	if len(dealers) == 0 {
		return all
	}
	slices.SortStableFunc(dealers, func(x, y leader) int { return cmp.Compare(floats.Sum(y.cost), floats.Sum(x.cost)) })
	rest, first := slices.Clone(a.response), dealers[:0:0]
	for _, x := range dealers {
		if slices.ContainsFunc(first, func(y leader) bool { return a.graph.controls(y.decision, x.out().block) }) {
			continue // in one that is dealt already
		}
		first = append(first, x)
		floats.Sub(rest, x.cost)
		cost := a.table.centre(x.cost)
		a.note(&x, floats.Dot(cost, cost)/a.variation)
	}
	if centred := a.table.centre(rest); floats.Dot(centred, centred) > wellExplained*a.variation {
		a.centred, a.variation, a.unit = centred, floats.Dot(centred, centred), a.table.unit(rest)
	} else {
		return nil
	}
	var out []leader
	for _, x := range a.leaders() {
		if !a.graph.deals(x.decision) {
			out = append(out, x)
		}
	}
	return out
}

// handsOut: what is decided is who takes which piece, or how the range of them is cut: no
// line of the program decides that, wherever the library's code was inlined.
func (a *analysis) handsOut(x leader) bool { return a.graph.p.Graph.Blocks[x.out().block].Runtime }

// pieces is what a leader's pieces cost if all were of one size. Not in each round
// of a loop need there be one: of who is woken, another one may have taken it
// already. So they are counted where that accounts for most, of all places that
// are come to in most rounds, and not more often.
func (a *analysis) pieces(x *leader, in func(profile.BlockID) bool) []float64 {
	best := equalPieces(x.taken, x.cost)
	for b := range a.graph.beside(x.out().block) {
		if !in(b) {
			continue
		}
		n := a.visits(b)
		if n == nil || 2*floats.Sum(n) < floats.Sum(x.taken) {
			continue
		}
		more := false
		for t := range n {
			more = more || n[t] > x.taken[t]
		}
		if c := equalPieces(n, x.cost); !more && floats.Sum(c) > floats.Sum(best) {
			best = c
		}
	}
	return best
}

// equalPieces is what so many pieces for each part cost, if each costs as much as
// on the part where that is least. Where one part took all, that is all it
// costs: the others came too late, and whether a piece is larger than the rest
// cannot be seen. Of one piece alone it can: nobody could have shared it.
func equalPieces(taken, costs []float64) []float64 {
	least, pieces := math.Inf(1), 0.0
	for t, n := range taken {
		if n > 0 {
			least = min(least, costs[t]/n)
			pieces += n
		}
	}
	cost := make([]float64, len(costs))
	if pieces < 2 {
		return cost
	}
	for t, n := range taken {
		if n > 0 {
			cost[t] = n * least
		}
	}
	return cost
}

// note keeps where most of the work that threads take themselves is taken.
func (a *analysis) note(x *leader, weight float64) {
	if a.dealt == 0 || weight > a.dealtShare {
		a.dealt, _ = x.place(a)
		a.dealtShare = weight
	}
}

// noteUneven keeps where the work is taken that is uneven because of what was
// found, though how much of it each took is not: who got the large pieces is
// chance all the same.
func (a *analysis) noteUneven(found []leader, findings []finding) {
	for i := range found {
		if findings[i].share <= a.dealtShare {
			continue
		}
		if b := a.takenAt(found[i].decision); b != profile.NoBlock {
			a.dealt, a.dealtShare, a.byPieces = a.lastOf(b), findings[i].share, true
		}
	}
}

// sameEachTime reports whether each thread does as much in nearly all of some
// instances: what it does is given to it, or goes by what it is, though it takes it
// from a store. Who differs from itself as much as threads do from each other does not.
func sameEachTime(p *profile.Profile, s *profile.Section) bool {
	const some, near = 5, 0.1
	sum, n := map[profile.ThreadID]float64{}, map[profile.ThreadID]float64{}
	work := make([][]float64, len(s.Instances))
	for i := range s.Instances {
		parts := s.Instances[i].Parts
		for k := range parts {
			t, id := float64(p.Instructions(parts[k].Counts)), parts[k].Thread
			work[i], sum[id], n[id] = append(work[i], t), sum[id]+t, n[id]+1
		}
	}
	same := 0
	for i, ts := range work {
		if s.Instances[i].Folded > 1 || len(ts) == 0 {
			continue
		}
		much, is := min(near*floats.Max(ts), (floats.Max(ts)-floats.Min(ts))/4), true
		for k, t := range ts {
			id := s.Instances[i].Parts[k].Thread
			is = is && math.Abs(t-sum[id]/n[id]) <= much
		}
		if is {
			same++
		}
	}
	return len(work) >= some && 10*same >= 9*len(work)
}

// takenAt is the block that deals the rounds of a loop in which a decision is
// taken, or by calls from it, or by callbacks of libraries that it may have
// called; NoBlock: there is none.
func (a *analysis) takenAt(d decision) profile.BlockID {
	v := d.out().block
	g, comp := a.graph, a.graph.compOf(v)
	for _, b := range g.dealers {
		for l := g.loops.Inner[b]; l >= 0; l = g.loops.All[l].Parent {
			in := g.blocksOf(l)
			if l == g.loops.Inner[b] && g.leaves(b, in) {
				if a.goesRound(b, in) && (in(v) || g.calledFrom(in, b, comp) || a.calledBack(b, comp)) {
					return b
				}
			} else if chosen := a.chosenBy(b, l); chosen(v) || g.calledFrom(chosen, b, comp) || a.roundsOf(d, b, l) {
				return b
			}
		}
	}
	return profile.NoBlock
}

// chosenBy are the blocks of a loop that are come to in some rounds because of
// what one of them has taken, and not in others: there was a piece, or none, and
// the loop goes on until something else says that all is done. Of them, those that
// some parts come to more often than others, as chance has it: who always does one
// piece has it from somebody.
func (a *analysis) chosenBy(b profile.BlockID, l int32) func(profile.BlockID) bool {
	g, head := a.graph, profile.BlockID(a.graph.loops.All[l].Head)
	in := g.blocksOf(l)
	chosen := func(v profile.BlockID) bool {
		return v != head && v != b && in(v) && uneven(a.visits(v)) && g.chooses(b, v, head, in)
	}
	return func(v profile.BlockID) bool {
		if v != b {
			return chosen(v)
		}
		for x := range g.beside(b) {
			if chosen(x) {
				return true
			}
		}
		return false
	}
}

// uneven: some come more often than others who come too, or one alone.
func uneven(visits []float64) bool {
	some, least, most := 0, math.Inf(1), 0.0
	for _, n := range visits {
		if n > 0 {
			some, least, most = some+1, min(least, n), max(most, n)
		}
	}
	return some > 0 && (least < most || some == 1 && len(visits) > 1 && most > 1)
}

// roundsOf reports whether a decision is how often a loop goes round in which some
// part finds a piece in most rounds, by what b has taken.
func (a *analysis) roundsOf(d decision, b profile.BlockID, l int32) bool {
	g, head := a.graph, profile.BlockID(a.graph.loops.All[l].Head)
	switch x := d.(type) {
	case loop, cycle:
		if d.out().block != head {
			return false
		}
	case branch:
		if !a.testsFor(x, l) {
			return false
		}
	default:
		return false
	}
	chosen := a.chosenBy(b, l)
	for x := range g.beside(b) {
		if (g.loops.Inner[x] != l || g.callsOut(x)) && a.mostly(x, head) && chosen(x) {
			return true
		}
	}
	return false
}

// testsFor reports whether a branch before a loop is its test once more, for the
// first round (guarded): it is on the line of one that leaves the loop.
func (a *analysis) testsFor(d branch, l int32) bool {
	g, head := a.graph, profile.BlockID(a.graph.loops.All[l].Head)
	if g.inLoop(d.block, l) || !g.dominates(d.to, head) {
		return false
	}
	line := func(v profile.BlockID) profile.Frame {
		at, _ := g.p.Location(a.lastOf(v))
		return profile.Frame{Function: at.Function, File: at.File, Line: at.Line}
	}
	own, in := line(d.block), g.blocksOf(l)
	for x := range g.beside(head) {
		if in(x) && g.leaves(x, in) && line(x) == own {
			return own.Line > 0
		}
	}
	return false
}

// mostly reports whether some part comes to x in most of its rounds: who finds
// nothing may look for it many times.
func (a *analysis) mostly(x, head profile.BlockID) bool {
	n, rounds := a.visits(x), a.visits(head)
	for t := range n {
		if n[t] > 0 && 2*n[t] >= rounds[t] {
			return true
		}
	}
	return false
}

// chooses reports whether a round of a loop comes to v because of where b leads.
func (g *graph) chooses(b, v, head profile.BlockID, in func(profile.BlockID) bool) bool {
	without, must := false, false
	for _, i := range g.outs.Of(int(b)) {
		if e := &g.p.Graph.Edges[i]; !e.Kind.IsCall() && e.To >= 0 {
			if g.roundWithout(e.To, head, v, in) {
				without = true
			} else {
				must = true
			}
		}
	}
	return without && must
}

// callsOut reports whether a block calls functions of the program.
func (g *graph) callsOut(b profile.BlockID) bool {
	return slices.ContainsFunc(g.outs.Of(int(b)), func(i int32) bool { return g.p.Graph.Edges[i].Kind.IsCall() && g.p.Graph.Edges[i].To >= 0 })
}

// roundWithout reports whether a round of a loop may go from a block to its end
// without coming to v.
func (g *graph) roundWithout(from, head, v profile.BlockID, in func(profile.BlockID) bool) bool {
	seen := map[profile.BlockID]bool{v: true}
	for next := []profile.BlockID{from}; len(next) > 0; {
		b := next[len(next)-1]
		next = next[:len(next)-1]
		switch {
		case seen[b]:
			continue
		case b == head || !in(b):
			return true
		}
		seen[b] = true
		for _, i := range g.outs.Of(int(b)) {
			switch e := &g.p.Graph.Edges[i]; {
			case e.Kind.IsCall():
			case e.To < 0:
				return true
			default:
				next = append(next, e.To)
			}
		}
	}
	return false
}

// findDealers lists the blocks that deal in a loop.
func (g *graph) findDealers() {
	for n := range g.p.Graph.Blocks {
		if b := profile.BlockID(n); g.p.Graph.Blocks[b].Deals && g.innermost(b) != nil {
			g.dealers = append(g.dealers, b)
		}
	}
}

// goesRound reports whether something of b's function in a set of blocks was
// executed: where threads idle is in no part.
func (a *analysis) goesRound(b profile.BlockID, in func(profile.BlockID) bool) bool {
	for x := range a.graph.beside(b) {
		if in(x) && floats.Sum(a.visits(x)) > 0 {
			return true
		}
	}
	return false
}

// leads reports whether a component is another one, or calls it.
func (g *graph) leads(from, to int32) bool { return from == to || g.reaches(from, to) }

// calledFrom reports whether calls from a set of blocks of b's function lead to
// a component.
func (g *graph) calledFrom(in func(profile.BlockID) bool, b profile.BlockID, comp int32) bool {
	for x := range g.beside(b) {
		for _, i := range g.outs.Of(int(x)) {
			if e := &g.p.Graph.Edges[i]; e.Kind.IsCall() && e.To >= 0 && in(x) && g.leads(g.compOf(e.To), comp) {
				return true
			}
		}
	}
	return false
}

// calledBack reports whether a component is come to from outside the program by
// another way than a block's function, and by some part again and again: what is
// entered once is where threads begin.
func (a *analysis) calledBack(b profile.BlockID, comp int32) bool {
	g := a.graph
	again := func(n float64) bool { return n > 1 }
	return slices.ContainsFunc(g.entering, func(i int32) bool {
		e := &g.p.Graph.Edges[i]
		if e.From >= 0 || !slices.ContainsFunc(a.visits(e.To), again) {
			return false
		}
		c := g.compOf(e.To)
		return g.leads(c, comp) && !g.leads(c, g.compOf(b))
	})
}

// selfScheduled is the warning where threads take their work themselves.
func selfScheduled(p *profile.Profile, at profile.Addr) profile.Warning {
	chance := "How much each did is chance, and differs from run to run"
	if p.Run.Virtual > 0 {
		chance = "They were kept together, so each did about what it would do on a core of its own"
	}
	return profile.Warning{Code: "self-scheduled", Message: fmt.Sprintf(
		"The threads take their work themselves, at %s: who is free takes more. %s; what can be uneven is the pieces.", placeName(p, at), chance)}
}

// placeName names a place as reports do: by its line, else by what is nearest to it.
func placeName(p *profile.Profile, at profile.Addr) string {
	l, _ := p.Location(at)
	lib, link := p.Program.Library(at)
	switch own, _ := l.Own(); {
	case l.Known():
		return fmt.Sprintf("%s:%d", path.Base(own.File), own.Line)
	case l.Function != "":
		return fmt.Sprintf("%s+%#x", l.Function, uint64(l.SymbolOffset))
	case lib != nil:
		return fmt.Sprintf("%s+%#x", path.Base(lib.Path), uint64(link))
	}
	return fmt.Sprintf("%#x", uint64(link))
}
