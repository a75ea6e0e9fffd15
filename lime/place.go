package lime

import (
	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// Where a decision is shown (rule 5): at the address of the instruction that
// takes it, whose source line the report then names.

func (a *analysis) startOf(b profile.BlockID) profile.Addr { return a.graph.p.Graph.Blocks[b].Start }

// times is how often an edge was taken in all; −1: unknown.
func (a *analysis) times(e *profile.Edge) float64 {
	if n := a.table.counts(e.Count); n != nil {
		return floats.Sum(n)
	}
	return -1
}

// lastOf returns a block's last instruction. The meeting point of several
// table jumps has none: then that of the jump that was taken most.
func (a *analysis) lastOf(v profile.BlockID) profile.Addr {
	blocks := a.graph.p.Graph.Blocks
	if !blocks[v].Virtual {
		return blocks[v].Last
	}
	at, most := blocks[v].Last, -1.0
	for _, i := range a.graph.ins.Of(int(v)) {
		e := &a.graph.p.Graph.Edges[i]
		if e.From < 0 || blocks[e.From].Virtual {
			continue
		}
		if n := a.times(e); n > most {
			most, at = n, blocks[e.From].Last
		}
	}
	return at
}

// branching reports whether a block chooses: it has several ways on that are
// not calls.
func (a *analysis) branching(v profile.BlockID) bool {
	n := 0
	for _, i := range a.graph.outs.Of(int(v)) {
		if k := a.graph.p.Graph.Edges[i].Kind; k != profile.Call && k != profile.Indirect {
			n++
		}
	}
	return n > 1
}

// loopExit returns the branch by which the loop that head heads is left most;
// ties go to a latch (the test at the bottom is the one that was written as
// the loop's), then to the last. A loop that is not left in sight has the
// address of its first latch. in tells the loop's blocks.
func (a *analysis) loopExit(head profile.BlockID, in func(profile.BlockID) bool) profile.Addr {
	f := &a.graph.p.Graph.Functions[a.graph.p.Graph.Blocks[head].Function]
	at, most, atLatch, first := profile.NoBlock, -1.0, false, profile.NoBlock
	for b := f.First; b < f.First+profile.BlockID(f.N); b++ {
		if !in(b) {
			continue
		}
		exits, latch := a.exits(b, head, in)
		if latch && first < 0 {
			first = b
		}
		if exits >= 0 && a.branching(b) && (exits > most || exits == most && (latch || !atLatch)) {
			at, most, atLatch = b, exits, latch
		}
	}
	if at < 0 {
		at = first
	}
	if at < 0 {
		at = head
	}
	return a.lastOf(at)
}

// wentRound tells the blocks of a loop from which somebody came back to its head. Where
// another one was made of a part of it, for those who go another way at its first test,
// a way that nobody went may lead back from there.
func (a *analysis) wentRound(head profile.BlockID, l int32) func(profile.BlockID) bool {
	back := map[profile.BlockID]bool{head: true}
	for todo := []profile.BlockID{head}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, i := range a.graph.ins.Of(int(v)) {
			e := &a.graph.p.Graph.Edges[i]
			if e.From >= 0 && a.graph.within(e) && a.graph.inLoop(e.From, l) && !back[e.From] && a.times(e) != 0 {
				back[e.From] = true
				todo = append(todo, e.From)
			}
		}
	}
	return func(b profile.BlockID) bool { return back[b] }
}

// exits returns how often a loop was left by the way out of b that was taken
// most, −1 where b has none, and whether b leads back to the head.
func (a *analysis) exits(b, head profile.BlockID, in func(profile.BlockID) bool) (most float64, latch bool) {
	most = -1
	for _, i := range a.graph.outs.Of(int(b)) {
		e := &a.graph.p.Graph.Edges[i]
		switch {
		case e.Kind.IsCall() && e.Kind != profile.TailCall:
		case e.To == head && a.graph.back[i]:
			latch = true
		case e.To < 0 || e.Kind.IsCall() || !in(e.To):
			most = max(most, a.times(e))
		}
	}
	return most, latch
}

// guard returns the branch that lets the recursion into v go deeper: the
// nearest dominator that chooses whether its busiest recursive call is made; and the call.
func (a *analysis) guard(v profile.BlockID) (at, call profile.Addr) {
	var busiest *profile.Edge
	most := -1.0
	for _, i := range a.graph.ins.Of(int(v)) {
		e := &a.graph.p.Graph.Edges[i]
		if n := a.times(e); a.graph.back[i] && e.Kind.IsCall() && n > most {
			busiest, most = e, n
		}
	}
	if busiest == nil {
		return a.lastOf(v), 0
	}
	call = busiest.Site
	if call == 0 {
		call = a.lastOf(busiest.From)
	}
	d := busiest.From
	if busiest.Kind != profile.TailCall {
		d = a.graph.idom(d)
	}
	for ; d >= 0; d = a.graph.idom(d) {
		// What lies between two calls and leads to the second one anyway lets nothing go deeper.
		if a.branching(d) && !a.graph.postdominates(busiest.From, d) {
			return a.lastOf(d), call
		}
	}
	return call, call
}
