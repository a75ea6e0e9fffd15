package section

import "slices"

// A thread may find work when it first looks, and then comes to wait only when it has done
// that: it began with its life, and nobody saw it go on.
//
//	born ── works, in the first round ── comes to wait ─────▷ goes on ── works
//	             atOnce                                          a part, as ever

// fromBirth is what a thread did before it first came to wait; nil where it has met others.
func fromBirth(x *thread, a *arrival) *arrival {
	if x.cuts > 0 {
		return nil
	}
	first := *a
	return &first
}

// fill gives the members of a crew that have no part in a round one: what they did from
// their birth on, in the first round that they lived in, if that was a piece as they do later,
// of a pool in which all work each time; else an empty one.
func (p *poolRule) fill(c *crew, y *shift, parts []arrival) []arrival {
	begin := y.over
	for i := range parts {
		begin = min(begin, parts[i].beginTSC)
		p.hands[parts[i].t].atOnce = nil
	}
	for _, w := range c.members {
		h := p.hands[w]
		switch {
		case !w.alive || hasPart(parts, w):
		case !c.loose && h.workedAtOnce(y):
			parts = append(parts, *h.atOnce)
			h.atOnce = nil
		default:
			parts = append(parts, arrival{t: w, tsc: begin, beginTSC: begin, begin: p.begins(w, y.end.site), timed: true})
		}
	}
	return parts
}

// workedAtOnce: a thread did so in a round that ended after its birth, and what it did is a
// piece as it has later, not two without a wait between.
func (h *hand) workedAtOnce(y *shift) bool {
	return h.atOnce != nil && h.atOnce.beginTSC < y.over && h.first*4 > h.most && h.first*2 <= h.most*3
}

// opened reports whether a dispatcher's first wait, in which nobody was seen to go on, was
// a round, since all have worked at once.
func (p *poolRule) opened(c *crew, y *shift) bool {
	return !c.loose && !c.works && p.crew(p.hands[y.end.t], y.end.site) == c &&
		!slices.ContainsFunc(c.members, func(w *thread) bool { return !p.hands[w].workedAtOnce(y) })
}

func hasPart(parts []arrival, w *thread) bool {
	return slices.ContainsFunc(parts, func(a arrival) bool { return a.t == w })
}
