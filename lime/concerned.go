package lime

import "github.com/skewlens/skewlens/profile"

// A program runs much more than its sections: it starts, makes ready, tests, and its runtime
// works for all. A section's parts count nothing there, so no decision in it can be one of the
// section's, and its shape is not looked for.

// concerned says by function whether sections have to do with it: their parts count something
// in it, or what they count is not known, or they begin there.
func concerned(p *profile.Profile, index func() *profile.BlockIndex) []bool {
	is := make([]bool, len(p.Graph.Functions))
	block := func(b profile.BlockID) {
		if b >= 0 {
			is[p.Graph.Blocks[b].Function] = true
		}
	}
	seen := make([]bool, len(p.Events))
	count := func(c *profile.Counts) {
		for _, e := range c.Event {
			seen[e] = true
		}
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		eachPart(s, func(_ *profile.Instance, x *profile.Part) {
			count(&x.Counts)
			count(&x.Inner)
			block(index().At(x.Begin))
		})
		eachTotal(s, func(x *profile.Part) {
			count(&x.Counts)
			count(&x.Inner)
		})
	}
	for i := range p.Events {
		switch e := &p.Events[i]; {
		case !seen[i]:
		case e.Kind == profile.EdgeTaken:
			block(p.Graph.Edges[e.Edge].From)
			block(p.Graph.Edges[e.Edge].To)
		default:
			block(e.Block)
		}
	}
	for b := range p.Graph.Blocks {
		if x := &p.Graph.Blocks[b]; x.Count < 0 && !x.Virtual {
			block(profile.BlockID(b))
		}
	}
	return is
}

// concern reports whether sections have to do with a block's function.
func (g *graph) concern(b profile.BlockID) bool { return g.concerns[g.p.Graph.Blocks[b].Function] }
