package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// Ways that were parted meet again before all of them do: two tests lead to one
// throw, a jump was threaded past a test, compilers merge tails that look alike.
// What comes there is none's alone. Of it an edge has the part that its flow is of
// all that flows in, and of what follows too, but of nothing to which its source
// would also have come another way (rule 6).

// addOnward adds to x what an edge leads to beyond the blocks that its target
// dominates. part is what share of the flow into its target is the edge's; nil: all.
func (c *costs) addOnward(x []float64, edge int32, part []float64) {
	joins := c.joinsBeyond(edge)
	if len(joins) == 0 {
		return
	}
	defer c.table.room.release(c.table.room.asked())
	e := &c.graph.p.Graph.Edges[edge]
	shares, product := c.table.room.shares[:0], c.table.vector()
	for _, v := range joins {
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
		shares = append(shares, share)
		floats.Add(x, floats.MulTo(product, c.block[c.at[v]], share))
	}
	c.table.room.shares = shares
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
// those that an edge's target dominates, and to which its source leads by no
// other way; in an order in which no way leads back.
func (c *costs) joinsBeyond(edge int32) (list []profile.BlockID) {
	list, known := c.table.room.joins[edge]
	if !known {
		list = c.findJoins(edge)
		c.table.room.joins[edge] = list
	}
	return list
}

// findJoins is joinsBeyond of an edge that was not asked for before in this analysis.
func (c *costs) findJoins(edge int32) (list []profile.BlockID) {
	to, from := c.graph.p.Graph.Edges[edge].To, c.graph.source(edge)
	list = c.walk(to, func(v profile.BlockID) bool {
		return c.graph.dominates(to, v) || !c.graph.postdominates(v, from)
	})
	list = slices.DeleteFunc(list, func(v profile.BlockID) bool { return c.graph.dominates(to, v) })
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	c.walk(from, func(v profile.BlockID) bool { return v != to })
	list = slices.DeleteFunc(list, c.table.room.walked)
	slices.SortFunc(list, c.inOrder)
	return list
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
