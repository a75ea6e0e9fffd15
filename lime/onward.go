package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// Ways that were parted meet again before all of them do: two tests lead to one
// throw, a jump was threaded past a test, compilers merge tails that look alike.
// What comes there is none's alone. Of it an edge has the part that its flow is of
// all that flows in, and of what follows too, but for as often as its source, having
// gone another way, comes there all the same (rule 6).

// addOnward adds to x what an edge leads to beyond the blocks that its target
// dominates. part is what share of the flow into its target is the edge's; nil: all.
func (c *costs) addOnward(x []float64, edge int32, part []float64) {
	beyond := c.joinsBeyond(edge)
	joins := beyond.blocks
	if len(joins) == 0 {
		return
	}
	defer c.table.room.release(c.table.room.asked())
	e := &c.graph.p.Graph.Edges[edge]
	shares, product := c.table.room.shares[:0], c.table.vector()
	owed := make([]float64, len(joins))
	for k, v := range joins {
		share := c.table.vector()
		for _, i := range c.graph.ins.Of(int(v)) {
			n, before := c.table.counts(c.graph.p.Graph.Edges[i].Count), c.graph.source(i)
			if c.graph.back[i] || !c.graph.flows(i) || n == nil {
				continue
			}
			switch k, is := c.placeIn(joins[:len(shares)], before); {
			case is && shares[k] != nil:
				floats.Add(share, floats.MulTo(product, n, shares[k]))
			case !c.graph.dominates(e.To, before):
			case part == nil:
				floats.Add(share, n)
			default:
				floats.Add(share, floats.MulTo(product, n, part))
			}
		}
		all := c.inflow(v)
		if all == nil || !happened(share) {
			shares = append(shares, nil)
			continue
		}
		for t := range share {
			if share[t] = min(share[t], all[t]); share[t] > 0 {
				share[t] /= all[t]
			}
		}
		owed[k] = 1
		if d, is := c.placeIn(joins[:k], c.graph.idom(v)); is {
			owed[k] = owed[d]
		} else if beyond.otherwise[k] && c.meetings[v] == nil { // else addMerged has it
			owed[k] = c.owed(edge, share, all)
		} else if beyond.otherwise[k] {
			owed[k] = 0
		}
		shares = append(shares, share)
		floats.AddScaled(x, owed[k], floats.MulTo(product, c.block[c.at[v]], share))
	}
	c.table.room.shares = shares
}

// owed is how much of what flows on over an edge is due to it, where its source also leads
// there otherwise: not as often as that came to pass when it went another way.
func (c *costs) owed(edge int32, share, all []float64) float64 {
	otherwise, came := 0.0, 0.0
	for _, i := range c.graph.outs.Of(int(c.graph.source(edge))) {
		if n := c.table.counts(c.graph.p.Graph.Edges[i].Count); i != edge && c.graph.flows(i) && n != nil {
			otherwise += floats.Sum(n)
		}
	}
	for t := range all {
		came += all[t] * (1 - share[t])
	}
	if came == 0 {
		return 1
	}
	return max(0, 1-came/otherwise)
}

// placeIn finds a block among some in the order of the graph's.
func (c *costs) placeIn(list []profile.BlockID, b profile.BlockID) (int, bool) {
	if b < 0 {
		return 0, false
	}
	return slices.BinarySearchFunc(list, b, c.inOrder)
}

// inOrder compares blocks by the order of the graph's.
func (c *costs) inOrder(a, b profile.BlockID) int {
	return int(c.graph.dom.Place[a]) - int(c.graph.dom.Place[b])
}

// joinsBeyond lists the blocks that ran to which control may go forwards from
// those that an edge's target dominates.
func (c *costs) joinsBeyond(edge int32) joins {
	list, known := c.table.room.joins[edge]
	if !known {
		list = c.findJoins(edge)
		c.table.room.joins[edge] = list
	}
	return list
}

// joins are blocks in an order in which no way leads back, and whether the edge's source
// leads there by another way too.
type joins struct {
	blocks    []profile.BlockID
	otherwise []bool
}

// only are those to which no other way leads.
func (j joins) only() []profile.BlockID {
	var list []profile.BlockID
	for k, v := range j.blocks {
		if !j.otherwise[k] {
			list = append(list, v)
		}
	}
	return list
}

// findJoins is joinsBeyond of an edge that was not asked for before in this analysis.
func (c *costs) findJoins(edge int32) (found joins) {
	to, from := c.graph.p.Graph.Edges[edge].To, c.graph.source(edge)
	list := c.walk(to, func(v profile.BlockID) bool {
		return c.graph.dominates(to, v) || !c.graph.postdominates(v, from)
	})
	list = slices.DeleteFunc(list, func(v profile.BlockID) bool { return c.graph.dominates(to, v) })
	if len(list) == 0 {
		return found
	}
	found.blocks = slices.Clone(list)
	slices.SortFunc(found.blocks, c.inOrder)
	c.walk(from, func(v profile.BlockID) bool { return v != to })
	for _, v := range found.blocks {
		found.otherwise = append(found.otherwise, c.table.room.walked(v))
	}
	return found
}

// walk lists the blocks that ran to which control may go forwards from one, as
// far as it may go on to them; up to the next walk.
func (c *costs) walk(from profile.BlockID, may func(profile.BlockID) bool) []profile.BlockID {
	r := c.table.room
	r.beginWalk(len(c.at))
	for b := from; ; {
		for _, i := range c.graph.flow.Succ(int32(b)) {
			if v := profile.BlockID(i); !c.graph.comesBack(b, v) && !r.walked(v) && c.at[v] >= 0 && may(v) {
				r.walk(v)
			}
		}
		if r.next == len(r.way) {
			return r.way
		}
		b = r.way[r.next]
		r.next++
	}
}
