package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// Several ways on from one block may be one decision: labels of a switch share a body, or
// one falls through into the next. Each alone leads to its part of what they share;
// together they lead to all of it (rule 6).

// addUnderAll adds to x what was executed because one of several ways on from a block was
// taken.
func (c *costs) addUnderAll(x []float64, edges []int32) {
	var on []int32
	for _, i := range edges {
		if c.choosesWay(i) {
			on = append(on, i)
		}
	}
	region := []profile.BlockID(nil)
	if len(on) > 1 {
		region = c.leadsTo(on)
	}
	if region == nil {
		on = nil
	}
	for _, i := range edges {
		if !slices.Contains(on, i) {
			c.addUnder(x, i)
		} else if c.onlyWayIn(i) {
			c.addMerged(x, i, region)
		}
	}
	c.addRegion(x, on, region)
}

// choosesWay reports whether an edge leads on in its function, to where not all ways from its
// source lead.
func (c *costs) choosesWay(edge int32) bool {
	e := &c.graph.p.Graph.Edges[edge]
	return !c.graph.back[edge] && c.graph.flows(edge) && c.at[e.To] >= 0 && !c.graph.postdominates(e.To, c.graph.source(edge))
}

// leadsTo lists the blocks that ran to which edges from one block lead forwards, and that
// block by no other way; nil where no two of the edges lead to the same. They are in an
// order in which no way leads back.
func (c *costs) leadsTo(edges []int32) (list []profile.BlockID) {
	from, targets := c.graph.source(edges[0]), []profile.BlockID(nil)
	for _, i := range edges {
		to := c.graph.p.Graph.Edges[i].To
		if slices.Contains(targets, to) {
			continue // two labels of one body
		}
		targets = append(targets, to)
		list = append(list, to)
		list = append(list, c.walk(to, func(v profile.BlockID) bool {
			return c.graph.dominates(to, v) || !c.graph.postdominates(v, from)
		})...)
	}
	several := len(list)
	slices.SortFunc(list, c.inOrder)
	list = slices.Compact(list)
	if len(list) == several && len(targets) == len(edges) {
		return nil
	}
	c.walk(from, func(v profile.BlockID) bool { return !slices.Contains(targets, v) })
	return slices.DeleteFunc(list, c.table.room.walked)
}

// addRegion adds to x what a region's blocks cost, as far as edges led to them: by the share
// that these are of what comes to each block which none of the region's dominates.
func (c *costs) addRegion(x []float64, edges []int32, region []profile.BlockID) {
	shares := make([][]float64, len(region))
	for k, v := range region {
		if d, within := c.placeIn(region, c.graph.idom(v)); within {
			shares[k] = shares[d]
			continue
		}
		share := c.table.vector()
		for _, i := range c.graph.ins.Of(int(v)) {
			n := c.table.counts(c.graph.p.Graph.Edges[i].Count)
			if c.graph.back[i] || !c.graph.flows(i) || n == nil {
				continue
			}
			if slices.Contains(edges, i) {
				floats.Add(share, n)
			} else if d, within := c.placeIn(region, c.graph.source(i)); within && shares[d] != nil {
				floats.Add(share, floats.MulTo(c.table.vector(), n, shares[d]))
			}
		}
		all := c.inflow(v)
		if all == nil {
			continue
		}
		for t := range share {
			if share[t] = min(share[t], all[t]); share[t] > 0 {
				share[t] /= all[t]
			}
		}
		shares[k] = share
		floats.Add(x, floats.MulTo(c.table.vector(), c.tree[c.at[v]], share))
	}
}
