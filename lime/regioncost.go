package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// costs are the instructions of one instance, per part, gathered bottom up so
// that the cost of any region that a leader steers (rule 6) can be read off:
// of a block with what it calls, of all blocks that it dominates, of a loop,
// of a component of the call graph. Instructions in loops that only wait are
// left out throughout, as they are out of T.
type costs struct {
	graph    *graph
	table    *table
	blocks   []profile.BlockID // those that ran, callees' components first
	at       []int32           // by block: index into blocks, or −1
	block    [][]float64       // by index: own instructions and those of its callees
	tree     [][]float64       // by index: the same, summed over the blocks that it dominates
	comp     map[int32][]float64
	shares   map[int32]*callShare // by component: how its cost goes to its call sites
	loop     map[int32][]float64
	began    []profile.BlockID             // by column: where the part begins; NoBlock: unknown
	executed []float64                     // all of them: T in instructions
	more     func(profile.BlockID) float64 // what one execution of a block costs beside its instructions
	pool     *pool
	meetings map[profile.BlockID]*meeting // where ways meet; nil: they are alike, or not told apart
	merged   []profile.BlockID            // those that are; nil: not looked for yet

	tells  map[int32]telling           // by component; nil: not looked for yet
	turns  map[profile.BlockID]telling // by head of a loop that goes round differently by part, or by a choice
	passed map[argument]bool
}

func newCosts(g *graph, t *table, p *pool, more func(profile.BlockID) float64) *costs {
	c := &costs{
		graph: g, table: t, more: more, pool: p,
		blocks: t.room.blocks[:0], comp: map[int32][]float64{}, shares: map[int32]*callShare{}, loop: map[int32][]float64{}, meetings: map[profile.BlockID]*meeting{},
		executed: t.vector(),
	}
	for _, e := range t.events {
		if ev := &g.p.Events[e]; ev.Kind == profile.BlockEntered {
			c.blocks = append(c.blocks, ev.Block)
		}
	}
	for b, back := range g.returns {
		if happened(t.counts(g.p.Graph.Edges[back].Count)) {
			c.blocks = append(c.blocks, b)
		}
	}
	t.room.sort(c.blocks, g.compOf)
	t.room.blocks, t.room.at = c.blocks, unknown(t.room.at, len(g.p.Graph.Blocks))
	c.at = t.room.at
	for i, b := range c.blocks {
		c.at[b] = int32(i)
	}
	c.sumBlocks()
	c.sumTrees()
	c.sumLoops()
	c.addHandlers()
	return c
}

// entries counts the entries of a component from outside by its own blocks:
// the executions of its functions' entries less what arrives there from
// within. It serves where a call edge is unknown; nil when this is too.
func (c *costs) entries(k int32) []float64 {
	sum := c.table.vector()
	for _, f := range c.graph.inComp.Of(int(k)) {
		if c.graph.p.Graph.Functions[f].N == 0 {
			continue
		}
		v := c.graph.p.Graph.Functions[f].EntryBlock
		n := c.table.counts(c.graph.p.Graph.Blocks[v].Count)
		if n == nil {
			return nil
		}
		floats.Add(sum, n)
		for _, i := range c.graph.ins.Of(int(v)) {
			if e := &c.graph.p.Graph.Edges[i]; c.graph.within(e) || c.graph.back[i] {
				n := c.table.counts(e.Count)
				if n == nil {
					return nil
				}
				floats.Sub(sum, n)
			}
		}
	}
	return sum
}

// sumBlocks charges each block with its own instructions and, by calls and
// per part, with those of the components that it calls. Blocks come callees
// first, so a callee's sum is complete when a caller needs it.
func (c *costs) sumBlocks() {
	c.block = make([][]float64, len(c.blocks))
	for i, v := range c.blocks {
		b := &c.graph.p.Graph.Blocks[v]
		k := c.graph.compOf(v)
		n := c.table.counts(b.Count)
		x := c.table.vector()
		if !b.Spin && n != nil {
			w := float64(b.Instructions) + c.more(v)
			floats.AddScaled(x, w, n)
			floats.AddScaled(c.executed, w, n)
		}
		for _, e := range c.graph.outs.Of(int(v)) {
			if c.graph.p.Graph.Edges[e].Kind.IsCall() && !c.graph.back[e] {
				c.addCallee(x, e)
			}
		}
		c.block[i] = x
		if c.comp[k] == nil {
			c.comp[k] = c.table.vector()
		}
		floats.Add(c.comp[k], x)
	}
}

// addCallee adds to x the part of a component's cost that goes to one call edge.
func (c *costs) addCallee(x []float64, edge int32) {
	e := &c.graph.p.Graph.Edges[edge]
	n := c.calls(edge)
	if e.To < 0 || n == nil || !happened(n) { // its block may end here: the thread did not come to the call
		return
	}
	k := c.graph.compOf(e.To)
	cost, s := c.comp[k], c.share(k)
	if cost == nil || s.total == nil {
		return
	}
	calls := s.calls(e.Count, n)
	for t := range x {
		if s.total[t] > 0 {
			x[t] += cost[t] * calls[t] / s.total[t]
		}
	}
}

// calls is how often a call was made; where nobody counted that, how often it came
// back.
func (c *costs) calls(edge int32) []float64 {
	e := &c.graph.p.Graph.Edges[edge]
	if n := c.table.counts(e.Count); n != nil || e.From < 0 {
		return n
	}
	if back, ok := c.graph.returns[e.From]; ok {
		return c.table.counts(c.graph.p.Graph.Edges[back].Count)
	}
	return nil
}

// sumTrees adds blocks up over the dominator trees. A thread may begin a part
// in the middle of a function, so a dominator need not have run in this
// instance: the sum then goes to the nearest one that did.
func (c *costs) sumTrees() {
	c.tree = make([][]float64, len(c.blocks))
	order := make([]profile.BlockID, 0, len(c.blocks))
	for i, v := range c.blocks {
		c.tree[i] = c.table.room.copied(c.block[i])
		if c.graph.reached(v) {
			order = append(order, v)
		}
	}
	c.table.room.sort(order, func(v profile.BlockID) int32 { return c.graph.dom.Pre[v] })
	for _, v := range slices.Backward(order) {
		d := c.graph.idom(v)
		for d >= 0 && c.at[d] < 0 {
			d = c.graph.idom(d)
		}
		if d >= 0 {
			floats.Add(c.tree[c.at[d]], c.tree[c.at[v]])
		}
	}
}

// sumLoops adds blocks up over the loops, inner loops first: flowgraph lists
// them in that order.
func (c *costs) sumLoops() {
	add := func(l int32, x []float64) {
		if c.loop[l] == nil {
			c.loop[l] = c.table.vector()
		}
		floats.Add(c.loop[l], x)
	}
	ran := map[int32]bool{}
	var ids []int32
	for i, v := range c.blocks {
		l := c.graph.loops.Inner[v]
		if l < 0 {
			continue
		}
		add(l, c.block[i])
		for ; l >= 0 && !ran[l]; l = c.graph.loops.All[l].Parent {
			ran[l] = true
			ids = append(ids, l)
		}
	}
	slices.Sort(ids)
	for _, l := range ids {
		if up := c.graph.loops.All[l].Parent; up >= 0 {
			add(up, c.loop[l])
		}
	}
}

// addHandlers adds what an exception leads to, where another function catches
// it, to what the throw is among: the blocks that dominate it in its function,
// and the loops around it. Callers have it of the handler itself. What a
// handler throws in turn, as one that only cleans up does, comes first.
func (c *costs) addHandlers() {
	edges := c.graph.p.Graph.Edges
	var todo []int32
	for _, i := range c.graph.caught {
		if c.at[edges[i].From] >= 0 {
			todo = append(todo, i)
		}
	}
	if len(todo) == 0 {
		return
	}
	seen := map[int32]bool{}
	var add func(edge int32)
	add = func(edge int32) {
		if seen[edge] {
			return
		}
		seen[edge] = true
		for _, k := range todo {
			if c.graph.p.Graph.Blocks[edges[k].From].Function == c.graph.p.Graph.Blocks[edges[edge].To].Function {
				add(k)
			}
		}
		c.addHandler(edge)
	}
	for _, edge := range todo {
		add(edge)
	}
}

// addHandler is addHandlers of one edge.
func (c *costs) addHandler(edge int32) {
	cost, from := c.table.vector(), c.graph.p.Graph.Edges[edge].From
	c.addUnder(cost, edge)
	for d := from; d >= 0; d = c.graph.idom(d) {
		if c.at[d] >= 0 {
			floats.Add(c.tree[c.at[d]], cost)
		}
	}
	for l := c.graph.loops.Inner[from]; l >= 0; l = c.graph.loops.All[l].Parent {
		if c.loop[l] != nil {
			floats.Add(c.loop[l], cost)
		}
	}
}

// addDominated adds to x the cost of the blocks that v dominates.
func (c *costs) addDominated(x []float64, v profile.BlockID) {
	if i := c.at[v]; i >= 0 {
		floats.Add(x, c.tree[i])
	}
}

// addBlocks adds to x the cost of some blocks.
func (c *costs) addBlocks(x []float64, blocks blockSet) {
	for i, v := range c.blocks {
		if blocks.has(v) {
			floats.Add(x, c.block[i])
		}
	}
}

// addUnder adds to x what was executed because an edge was taken: its
// callee's part; or the loop that it decides to go round again; or what comes
// before all ways on from its source meet again. Where others lead there too it is
// the edge's part of the flow; and where the meeting is its target, taking this
// edge decided nothing.
func (c *costs) addUnder(x []float64, edge int32) {
	c.findMerged()
	e := &c.graph.p.Graph.Edges[edge]
	switch {
	case e.Kind.IsCall():
		if !c.graph.back[edge] {
			c.addCallee(x, edge)
		}
	case c.graph.back[edge]:
		if l := c.graph.headed(e.To); l >= 0 && c.loop[l] != nil {
			floats.Add(x, c.loop[l])
		}
	case c.onlyWayIn(edge):
		c.addDominated(x, e.To)
		c.addOnward(x, edge, nil)
		c.addMerged(x, edge, c.joinsBeyond(edge).only())
	case c.graph.postdominates(e.To, e.From):
		c.addMerged(x, edge, c.joinsBeyond(edge).only())
	default:
		in, n := c.inflow(e.To), c.table.counts(e.Count)
		if in == nil || n == nil || c.at[e.To] < 0 {
			return
		}
		defer c.table.room.release(c.table.room.asked())
		part := c.table.vector()
		for t := range part {
			if in[t] > 0 {
				part[t] = n[t] / in[t]
			}
		}
		floats.Add(x, floats.MulTo(c.table.vector(), c.tree[c.at[e.To]], part))
		c.addOnward(x, edge, part)
	}
}

// onlyWayIn reports whether an edge's target was reached by it alone, but for
// back edges.
func (c *costs) onlyWayIn(edge int32) bool {
	to := c.graph.p.Graph.Edges[edge].To
	for _, i := range c.graph.ins.Of(int(to)) {
		if i == edge || c.graph.back[i] {
			continue
		}
		n := c.table.counts(c.graph.p.Graph.Edges[i].Count)
		if n == nil {
			return c.balances(edge)
		}
		if happened(n) {
			return false
		}
	}
	return true
}

// balances settles onlyWayIn where some way in was not counted: its target
// ran exactly as often as the edge and the back edges account for.
func (c *costs) balances(edge int32) bool {
	to := c.graph.p.Graph.Edges[edge].To
	in := c.inflow(to)
	n := c.table.counts(c.graph.p.Graph.Edges[edge].Count)
	return in != nil && n != nil && floats.Equal(in, n)
}

// inflow returns how often each part came to v from outside its loops and
// recursions: the sum of its forward in-edges (rule 2), or, where one of them
// is unknown, v's own count less its back edges. nil when that is unknown too.
func (c *costs) inflow(v profile.BlockID) []float64 {
	sum := c.table.vector()
	known := !c.graph.p.Graph.Blocks[v].Resumes
	for _, i := range c.graph.ins.Of(int(v)) {
		if !c.graph.back[i] {
			if n := c.table.counts(c.graph.p.Graph.Edges[i].Count); n != nil {
				floats.Add(sum, n)
			} else {
				known = false
			}
		}
	}
	if known {
		if l := c.graph.headed(v); l >= 0 {
			floats.Add(sum, c.begunIn(l))
		}
		return sum
	}
	n := c.table.counts(c.graph.p.Graph.Blocks[v].Count)
	if n == nil {
		return nil
	}
	copy(sum, n)
	for _, i := range c.graph.ins.Of(int(v)) {
		if c.graph.back[i] {
			n := c.table.counts(c.graph.p.Graph.Edges[i].Count)
			if n == nil {
				return nil
			}
			floats.Sub(sum, n)
		}
	}
	return sum
}
