package lime

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// maxMembers bounds Cause.Members; a cluster may hold half the program.
const maxMembers = 50

// controlFlow is the kind of all causes that are decisions.
const controlFlow = "control-flow"

// describe says where a cause is and what goes with it.
func (sc *scene) describe(f *found) Cause {
	c := Cause{Kind: controlFlow, Leader: f.by.kind, P: f.p}
	switch {
	case f.key.kind == StartAt:
		c.Addr = f.key.addr
		return c
	case f.by.v < 0:
		ev := &sc.g.p.Events[f.by.event]
		c.Kind, c.Addr = ev.Name, ev.Addr
	default:
		c.Addr, c.To = sc.place(f)
	}
	c.Members = sc.members(f)
	return c
}

// place returns the address of the deciding instruction and where the event's
// edge leads (rule 5).
func (sc *scene) place(f *found) (at, to profile.Addr) {
	blocks := sc.g.p.Graph.Blocks
	to = blocks[f.by.to].Start
	switch f.by.kind {
	case Loop:
		return sc.loopExit(f.by.v, f.by.cycle), to
	case Recursion:
		return sc.guard(f.by.v)
	}
	if f.by.edge >= 0 {
		if e := &sc.g.p.Graph.Edges[f.by.edge]; isCall(e.Kind) && e.Site != 0 {
			return e.Site, to
		}
	}
	return sc.lastOf(f.by.v), to
}

// lastOf returns a block's last instruction. The meeting point of several
// table jumps has none: then that of the jump that was taken most.
func (sc *scene) lastOf(v profile.BlockID) profile.Addr {
	b := &sc.g.p.Graph.Blocks[v]
	if !b.Virtual {
		return b.Last
	}
	at, most := b.Last, -1.0
	for _, i := range sc.g.ins.Of(int(v)) {
		e := &sc.g.p.Graph.Edges[i]
		if e.From < 0 || sc.g.p.Graph.Blocks[e.From].Virtual {
			continue
		}
		if n := sc.t.of(e.Count); n != nil && floats.Sum(n) > most {
			most, at = floats.Sum(n), sc.g.p.Graph.Blocks[e.From].Last
		}
	}
	return at
}

// branching reports whether a block chooses: it has several ways on that are
// not calls.
func (sc *scene) branching(v profile.BlockID) bool {
	n := 0
	for _, i := range sc.g.outs.Of(int(v)) {
		if k := sc.g.p.Graph.Edges[i].Kind; k != profile.Call && k != profile.Indirect {
			n++
		}
	}
	return n > 1
}

// loopExit returns the branch by which the loop that v heads is left most;
// ties go to a latch (the test at the bottom is the one that was written as
// the loop's), then to the last. A loop that is not left in sight has the
// address of its first latch. With cycle, the loop is only that.
func (sc *scene) loopExit(v profile.BlockID, cycle blockSet) profile.Addr {
	l := sc.g.headed(v)
	within := func(b profile.BlockID) bool {
		if cycle != nil {
			return cycle.has(b)
		}
		return sc.g.inLoop(b, l)
	}
	f := &sc.g.p.Graph.Functions[sc.g.p.Graph.Blocks[v].Function]
	at, most, atLatch, first := profile.NoBlock, -1.0, false, profile.NoBlock
	for b := f.First; b < f.First+profile.BlockID(f.N); b++ {
		if !within(b) {
			continue
		}
		exits, latch := -1.0, false
		for _, i := range sc.g.outs.Of(int(b)) {
			e := &sc.g.p.Graph.Edges[i]
			n := sc.t.of(e.Count)
			switch {
			case isCall(e.Kind) && e.Kind != profile.TailCall:
			case e.To == v && sc.g.back[i]:
				latch = true
				if first < 0 {
					first = b
				}
			case n != nil && (e.To < 0 || isCall(e.Kind) || !within(e.To)):
				exits = max(exits, floats.Sum(n))
			}
		}
		if exits >= 0 && sc.branching(b) && (exits > most || exits == most && (latch || !atLatch)) {
			at, most, atLatch = b, exits, latch
		}
	}
	if at < 0 {
		at = first
	}
	if at < 0 {
		at = v
	}
	return sc.lastOf(at)
}

// guard returns the branch that lets the recursion into v go deeper: the
// nearest dominator with a choice of its busiest recursive call; and the call.
func (sc *scene) guard(v profile.BlockID) (at, call profile.Addr) {
	edges := sc.g.p.Graph.Edges
	best, most := int32(-1), -1.0
	for _, i := range sc.g.ins.Of(int(v)) {
		n := sc.t.of(edges[i].Count)
		if sc.g.back[i] && isCall(edges[i].Kind) && n != nil && floats.Sum(n) > most {
			best, most = i, floats.Sum(n)
		}
	}
	if best < 0 {
		return sc.lastOf(v), 0
	}
	call = edges[best].Site
	if call == 0 {
		call = sc.lastOf(edges[best].From)
	}
	d := edges[best].From
	if edges[best].Kind != profile.TailCall {
		d = sc.g.idom(d)
	}
	for d >= 0 && !sc.branching(d) {
		d = sc.g.idom(d)
	}
	if d < 0 {
		return call, call
	}
	return sc.lastOf(d), call
}

// counts reports whether e is the event of a leader or of a copy of it.
func (x *leader) counts(e profile.EventID) bool {
	return x.event == e || slices.ContainsFunc(x.copies, func(c leader) bool { return c.event == e })
}

// members lists the other events of a cause's cluster, those with most work
// behind them first: executions × instructions of the block that they lead to.
func (sc *scene) members(f *found) []Member {
	type weighed struct {
		Member
		work float64
	}
	var all []weighed
	g := sc.g.p
	for i, e := range sc.cs.events {
		if sc.cs.label[e] != f.by.cluster || f.by.counts(e) {
			continue
		}
		ev := &g.Events[e]
		w := weighed{Member{controlFlow, ev.Addr, floats.Dot(sc.cs.vectors[i], sc.cs.unit[f.by.cluster])}, 0}
		if ev.Kind == profile.Hardware {
			w.Kind, w.work = ev.Name, floats.Sum(sc.t.of(e))
		} else {
			for _, k := range sc.g.ofEvent.Of(int(e)) {
				if to := g.Graph.Edges[k].To; to >= 0 {
					w.work += floats.Sum(sc.t.of(e)) * float64(g.Graph.Blocks[to].Instructions)
				}
			}
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(b.work, a.work) })
	var out []Member
	type place struct {
		kind string
		addr profile.Addr
	}
	seen := map[place]bool{}
	for _, w := range all {
		if p := (place{w.Kind, w.Addr}); !seen[p] && len(out) < maxMembers {
			seen[p] = true
			out = append(out, w.Member)
		}
	}
	return out
}
