package lime

import "github.com/skewlens/skewlens/profile"

// decision is a place in the code that steers execution (rule 5): a branch, a
// join, a loop, a cycle or a recursion.
type decision interface {
	kind() LeaderKind
	out() outcome
	// id tells the decision from others in the code, sourceID in the source.
	id() identity
	sourceID(s *sources) identity
	// holds reports whether v is executed because of the decision; v is
	// another block of the same component of the call graph.
	holds(g *graph, v profile.BlockID) bool
	// place returns the address of the deciding instruction, and where it leads.
	place(a *analysis) (at, to profile.Addr)
}

// outcome is what a decision comes to.
type outcome struct {
	block profile.BlockID // that decides
	to    profile.BlockID // where it leads
	event profile.EventID // what counts how often it does
}

func (o outcome) out() outcome { return o }

// way is an outcome that one edge stands for.
type way struct {
	outcome
	edge int32
}

type (
	// branch is a block that chooses between ways on.
	branch struct {
		way
		onlyWay bool // there was nothing to choose: a part began there
	}
	// join is a choice that leads to one block by several ways: a || b, or a
	// jump that was threaded past its test.
	join struct{ outcome }
	// loop is a block that heads a loop: how often it goes round.
	loop struct{ way }
	// cycle is one of several loops that share their head.
	cycle struct {
		way
		blocks blockSet
	}
	// recursion is an entry that is called again by what it calls: how deep.
	recursion struct{ way }
)

func (branch) kind() LeaderKind    { return Branch }
func (join) kind() LeaderKind      { return Branch }
func (loop) kind() LeaderKind      { return Loop }
func (cycle) kind() LeaderKind     { return Loop }
func (recursion) kind() LeaderKind { return Recursion }

// identity is what a cause is known by, from one instance to the next. Two are
// the same cause when they are equal. A loop or a recursion is one cause
// whatever edge of it happens to follow T best.
type identity interface{ identity() }

type (
	branchID    struct{ block, to profile.BlockID }
	loopID      struct{ head profile.BlockID }
	recursionID struct{ entry profile.BlockID }
	startID     struct{ at profile.Addr }
	hardwareID  struct{ event profile.EventID }
	missesID    struct{ line string }
)

func (branchID) identity()    {}
func (loopID) identity()      {}
func (recursionID) identity() {}
func (startID) identity()     {}
func (hardwareID) identity()  {}
func (missesID) identity()    {}

func (d branch) id() identity    { return branchID{d.block, d.to} }
func (d join) id() identity      { return branchID{d.block, d.to} }
func (d loop) id() identity      { return loopID{d.block} }
func (d cycle) id() identity     { return loopID{d.block} }
func (d recursion) id() identity { return recursionID{d.block} }

func (d branch) sourceID(s *sources) identity  { return branchID{s.last[d.block], s.start[d.to]} }
func (d join) sourceID(s *sources) identity    { return branchID{s.last[d.block], s.start[d.to]} }
func (d loop) sourceID(s *sources) identity    { return loopID{s.loop[d.block]} }
func (d cycle) sourceID(*sources) identity     { return d.id() }
func (d recursion) sourceID(*sources) identity { return d.id() }

func (d branch) holds(g *graph, v profile.BlockID) bool    { return d.leadsTo(g, v) }
func (d join) holds(g *graph, v profile.BlockID) bool      { return g.dominates(d.to, v) }
func (d loop) holds(g *graph, v profile.BlockID) bool      { return g.inLoop(v, g.headed(d.block)) }
func (d cycle) holds(_ *graph, v profile.BlockID) bool     { return d.blocks.has(v) }
func (d recursion) holds(g *graph, v profile.BlockID) bool { return d.leadsTo(g, v) }

// leadsTo reports whether v is executed because of an edge: it is of the loop
// that the edge goes round, or dominated by where it leads.
func (w way) leadsTo(g *graph, v profile.BlockID) bool {
	if g.back[w.edge] {
		l := g.headed(w.to)
		return l < 0 || g.inLoop(v, l)
	}
	return g.dominates(w.to, v)
}

// controls reports whether v is executed because of a decision, as far as the
// graph can tell.
func (g *graph) controls(d decision, v profile.BlockID) bool {
	block := d.out().block
	a, b := g.compOf(block), g.compOf(v)
	switch {
	case block == v:
		return true
	case a != b:
		return g.reaches(a, b)
	}
	return d.holds(g, v)
}

func (d branch) place(a *analysis) (at, to profile.Addr) {
	if e := &a.graph.p.Graph.Edges[d.edge]; e.Kind.IsCall() && e.Site != 0 {
		return e.Site, a.startOf(d.to)
	}
	return a.lastOf(d.block), a.startOf(d.to)
}

func (d join) place(a *analysis) (at, to profile.Addr) { return a.lastOf(d.block), a.startOf(d.to) }

func (d loop) place(a *analysis) (at, to profile.Addr) {
	l := a.graph.headed(d.block)
	return a.loopExit(d.block, a.wentRound(d.block, l)), a.startOf(d.to)
}

func (d cycle) place(a *analysis) (at, to profile.Addr) {
	return a.loopExit(d.block, d.blocks.has), a.startOf(d.to)
}

func (d recursion) place(a *analysis) (at, to profile.Addr) { return a.guard(d.block) }
