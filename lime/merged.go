package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// Ways that were parted meet again, and what follows may still differ by the way that
// was taken: compilers make one call, or one loop, of several that differ in an argument
// alone, which each way sets. That all go there says nothing then. As with calls (rule
// 16) what one time costs by each way can be solved for, and each way has its own.

const siteLeast = 0.01 // of how much T differs: what follows must cost that for the ways to matter

// meeting is what follows where ways meet: the block, what it calls, and the loop that
// it leads to, by part.
type meeting struct {
	callShare
	follows []float64
}

// meeting returns how what follows a block goes to the ways into it; nil where these
// are not told apart.
func (c *costs) meeting(v profile.BlockID) *meeting {
	if m, known := c.meetings[v]; known {
		return m
	}
	c.meetings[v] = nil
	e := c.graph.p.Graph.Blocks[v].Count
	if c.at[v] < 0 || e < 0 {
		return nil
	}
	var ways callSites
	m := &meeting{follows: c.follows(v)}
	if floats.Norm(m.follows, 2) < siteLeast*c.table.deviation(c.executed) {
		return nil
	}
	for k, way := range c.waysTo(v, e) {
		ways.add(site{e, way}, int32(k), c.table.counts(way))
	}
	if len(ways.sites) < 2 {
		return nil
	}
	m.total = c.table.room.copied(c.table.counts(e))
	c.solve(&m.callShare, m.follows, &callSites{}, &ways, func() bool { return c.toldAhead(v) }, func(o *costs) *callShare {
		if x := o.meeting(v); x != nil {
			return &x.callShare
		}
		return nil
	})
	if m.mixed {
		c.meetings[v] = m
	}
	return c.meetings[v]
}

// follows is the cost of a block, which heads no loop, and of what it leads to straight on: as
// far as the first call, or a loop.
func (c *costs) follows(v profile.BlockID) []float64 {
	x := c.table.vector()
	c.ahead(v, func(b profile.BlockID) { floats.Add(x, c.block[c.at[b]]) }, func(l int32) { floats.Add(x, c.loop[l]) })
	return x
}

// ahead lists a block and what it leads to straight on.
func (c *costs) ahead(v profile.BlockID, block func(profile.BlockID), loop func(int32)) {
	block(v)
	for c.straight(v) {
		v = profile.BlockID(c.graph.flow.Succ(int32(v))[0])
		if l := c.graph.headed(v); l >= 0 && c.loop[l] != nil {
			loop(l)
			break
		}
		if c.at[v] < 0 || len(c.graph.ins.Of(int(v))) != 1 {
			break
		}
		block(v)
	}
}

// straight reports whether there is one way on from a block, forwards, and no call.
func (c *costs) straight(v profile.BlockID) bool {
	next := c.graph.flow.Succ(int32(v))
	return len(next) == 1 && !c.graph.comesBack(v, profile.BlockID(next[0])) && !slices.ContainsFunc(c.graph.outs.Of(int(v)), func(i int32) bool {
		return c.graph.p.Graph.Edges[i].Kind.IsCall()
	})
}

// beforeLoop is the meeting that a loop follows; nil: none does.
func (c *costs) beforeLoop(v profile.BlockID) *meeting {
	for l := c.graph.loops.Inner[v]; l >= 0; l = c.graph.loops.All[l].Parent {
		head := profile.BlockID(c.graph.loops.All[l].Head)
		for d := c.graph.idom(head); d >= 0 && c.straight(d); d = c.graph.idom(d) {
			if m := c.meeting(d); m != nil {
				return m
			}
			if len(c.graph.ins.Of(int(d))) != 1 {
				break
			}
		}
	}
	return nil
}

// findMerged finds where what follows differs by the way, once. What is known of that
// stays, so that it must not be asked for first by what gives room back.
func (c *costs) findMerged() {
	if c.merged != nil {
		return
	}
	c.merged = []profile.BlockID{}
	for _, v := range c.blocks {
		if len(c.graph.ins.Of(int(v))) > 1 && c.meeting(v) != nil {
			c.merged = append(c.merged, v)
		}
	}
}

// addMerged adds to x what follows where an edge's way meets others, which its source
// leads to as well, if that differs by the way. What lies beyond the edge, to which its
// source leads by no other way, has been added.
func (c *costs) addMerged(x []float64, edge int32, beyond []profile.BlockID) {
	to := c.graph.p.Graph.Edges[edge].To
	for _, v := range c.merged {
		if c.graph.p.Graph.Blocks[v].Function == c.graph.p.Graph.Blocks[to].Function && (v == to || !c.graph.dominates(to, v)) && !slices.Contains(beyond, v) {
			c.addWay(x, edge, v)
		}
	}
}

// addWay adds to x what follows a block where ways meet, as far as it is reached by an edge.
func (c *costs) addWay(x []float64, edge int32, v profile.BlockID) {
	m, to := c.meetings[v], c.graph.p.Graph.Edges[edge].To
	for _, i := range c.graph.ins.Of(int(v)) {
		way := c.graph.p.Graph.Edges[i].Count
		each, is := m.costs[site{c.graph.p.Graph.Blocks[v].Count, way}]
		if !is || i != edge && !(c.graph.flows(i) && c.onlyWayIn(edge) && c.graph.dominates(to, c.graph.source(i))) {
			continue
		}
		for t, n := range c.table.counts(way) {
			if m.total[t] > 0 {
				x[t] += m.follows[t] * each * n / m.total[t]
			}
		}
	}
}
