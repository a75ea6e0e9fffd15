package section

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
// their birth on, in the first round that they lived in, if that was work as they do later,
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
		case h.atOnce != nil && !c.loose && h.atOnce.beginTSC < y.over && h.first*4 > h.most:
			parts = append(parts, *h.atOnce)
			h.atOnce = nil
		default:
			parts = append(parts, arrival{t: w, tsc: begin, beginTSC: begin, begin: p.begins(w, y.end.site), timed: true})
		}
	}
	return parts
}

func hasPart(parts []arrival, w *thread) bool {
	for i := range parts {
		if parts[i].t == w {
			return true
		}
	}
	return false
}
