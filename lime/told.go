package lime

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/skewlens/skewlens/profile"
)

// A loop that goes round as often as constants say, and what stands in one place for
// all threads, does so alike in all threads that came to it the same way. Where it does
// not, it is not the loop that decides, nor the data, but which way control came: by
// which call its function was entered, or over which of the ways that meet before it.
// What that costs is then told apart even where one thread alone went a way (rule 16). But
// not where data decide whether there is a loop or a call to come to: then the choice does.

// telling is what tells how often loops go round that do so differently by part.
type telling uint8

const (
	byWay  telling = 1 << iota // constants and the way that control came
	byData                     // or it is not known
)

// told reports whether, of what a component runs, only the ways to it differ.
func (c *costs) told(k int32) bool {
	c.findTold()
	return c.tells[k] == byWay
}

// toldRounds reports whether the way that control came tells how often it goes round a loop.
func (c *costs) toldRounds(head profile.BlockID) bool {
	c.findTold()
	return c.leftAlike(head, c.graph.headed(head))
}

// toldAhead reports whether of what follows a block only the ways to it differ.
func (c *costs) toldAhead(v profile.BlockID) bool {
	c.findTold()
	by := telling(0)
	c.ahead(v, func(b profile.BlockID) { by |= c.tellsCalled(b) }, func(l int32) {
		for _, b := range c.blocks {
			if c.graph.inLoop(b, l) {
				by |= c.turns[b] | c.tellsCalled(b)
			}
		}
	})
	return by == byWay
}

// tellsCalled is of all that a block calls.
func (c *costs) tellsCalled(b profile.BlockID) (by telling) {
	for _, i := range c.graph.outs.Of(int(b)) {
		e := &c.graph.p.Graph.Edges[i]
		if n := c.calls(i); e.Kind.IsCall() && !c.graph.back[i] && e.To >= 0 && n != nil && happened(n) {
			by |= c.tells[c.graph.compOf(e.To)]
		}
	}
	return by
}

// findTold looks at all loops that ran. Callees come first.
func (c *costs) findTold() {
	if c.tells != nil {
		return
	}
	c.tells, c.turns, c.passed = map[int32]telling{}, map[profile.BlockID]telling{}, map[argument]bool{}
	for _, v := range c.blocks {
		if l := c.graph.headed(v); l >= 0 && !c.graph.p.Graph.Blocks[v].Spin && c.turnsDiffer(v) {
			c.turns[v] = byData
			if c.leftAlike(v, l) {
				c.turns[v] = byWay
			}
		}
		if c.dataDecide(v) {
			c.turns[v] |= byData
		}
		c.tells[c.graph.compOf(v)] |= c.turns[v] | c.tellsCalled(v)
	}
}

// dataDecide reports whether a block ends in a choice that parts make differently, by what
// threads may have different ones of, and that calls and loops are subject to: whoever comes
// there the same way may do more or less.
func (c *costs) dataDecide(v profile.BlockID) bool {
	visits := c.table.counts(c.graph.p.Graph.Blocks[v].Count)
	if visits == nil || len(c.graph.flow.Succ(int32(v))) < 2 || c.alikeIn(v, c.graph.p.Graph.Blocks[v].Branch) {
		return false
	}
	defer c.table.room.release(c.table.room.asked())
	for _, i := range c.graph.outs.Of(int(v)) {
		e := &c.graph.p.Graph.Edges[i]
		if !c.graph.within(e) || c.graph.back[i] || e.To < 0 || c.graph.postdominates(e.To, v) {
			continue
		}
		if n := c.table.counts(e.Count); n != nil && happened(n) && !alike(n, visits, siteSame) && c.leadsToWork(e.To) {
			return true
		}
	}
	return false
}

// leadsToWork reports whether what a block dominates calls, or goes round.
func (c *costs) leadsToWork(to profile.BlockID) bool {
	f := &c.graph.p.Graph.Functions[c.graph.p.Graph.Blocks[to].Function]
	for b := f.First; b < f.First+profile.BlockID(f.N); b++ {
		if c.at[b] < 0 || !c.graph.dominates(to, b) {
			continue
		}
		if c.graph.headed(b) >= 0 || slices.ContainsFunc(c.graph.outs.Of(int(b)), func(i int32) bool { return c.graph.p.Graph.Edges[i].Kind.IsCall() }) {
			return true
		}
	}
	return false
}

// turnsDiffer reports whether parts go round a loop differently often each time that
// they come to it.
func (c *costs) turnsDiffer(head profile.BlockID) bool {
	defer c.table.room.release(c.table.room.asked())
	times, turns := c.inflow(head), c.table.counts(c.graph.p.Graph.Blocks[head].Count)
	return times == nil || turns == nil || happened(times) && !alike(turns, times, siteSame)
}

// leftAlike reports whether all branches by which a loop was left go by what is alike in
// all threads.
func (c *costs) leftAlike(head profile.BlockID, l int32) bool {
	f := &c.graph.p.Graph.Functions[c.graph.p.Graph.Blocks[head].Function]
	for b := f.First; b < f.First+profile.BlockID(f.N); b++ {
		if c.at[b] < 0 || !c.graph.inLoop(b, l) {
			continue
		}
		for _, i := range c.graph.outs.Of(int(b)) {
			e := &c.graph.p.Graph.Edges[i]
			n := c.table.counts(e.Count)
			leaves := !e.Kind.IsCall() && (e.To < 0 || !c.graph.inLoop(e.To, l)) && (n == nil || happened(n))
			if leaves && !c.alikeIn(b, c.graph.p.Graph.Blocks[b].Branch) {
				return false
			}
		}
	}
	return true
}

// argument is the nth one of a function.
type argument struct {
	of  profile.FunctionID
	nth int
}

// alikeIn reports whether what has some inputs, in a block's function, is alike in all
// threads that come there the same way: so is what its callers pass.
func (c *costs) alikeIn(b profile.BlockID, inputs profile.Inputs) bool {
	if inputs&profile.InputsKnown == 0 || inputs&profile.InputData != 0 {
		return false
	}
	for i := range profile.InputArguments {
		if inputs>>i&1 != 0 && !c.passedAlike(argument{c.graph.p.Graph.Blocks[b].Function, i}) {
			return false
		}
	}
	return true
}

// passedAlike is alikeIn of an argument. What a recursion passes on is what it got.
func (c *costs) passedAlike(x argument) bool {
	if alike, known := c.passed[x]; known {
		return alike
	}
	c.passed[x] = true
	for _, i := range c.graph.ins.Of(int(c.graph.p.Graph.Functions[x.of].EntryBlock)) {
		e := &c.graph.p.Graph.Edges[i]
		if n := c.calls(i); c.graph.within(e) || n != nil && floats.Sum(n) == 0 {
			continue
		}
		if !e.Kind.IsCall() || e.From < 0 || !c.alikeIn(e.From, e.Passed(x.nth)) {
			c.passed[x] = false
		}
	}
	return c.passed[x]
}
