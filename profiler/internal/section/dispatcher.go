package section

// What the thread does itself that has others work for it (rule 22): it wakes
// them, works from then on as they do, or only waits.
//
//	went on ── before ──▷ wakes the first ── its own ──▷ waits ──▷ goes on
//
// Where nobody waits nobody has to be woken, and there is no record of that; then
// its own work began where it went on, if it usually does little before.

// whole is what a dispatcher did since it last went on, or since it created the
// last of its threads; nil where that is not known.
func (h *hand) whole(x *thread) *arrival {
	a := h.arrived
	switch {
	case h.now.futures || h.passed > 1 && h.since.cuts != x.cuts:
		return nil
	case h.passed > 1:
		a.since(x, &h.since)
	}
	return &a
}

// takesPart: the dispatcher works beside the others, if it does a twentieth of
// what one of them does.
func (p *poolRule) takesPart(c *crew) {
	share, before := p.share(c)
	c.works, c.atOnce = share*20 >= 1, before*20 <= share
}

// share is how much the dispatcher does in a round, and how much before that, of
// what one of the others does.
func (p *poolRule) share(c *crew) (own, before float64) {
	rounds, sum, n := 0.0, 0.0, 0.0
	for _, y := range c.shifts {
		if y.own != nil && y.all != nil {
			w := float64(p.t.c.Work(y.own.delta))
			own, before, rounds = own+w, before+float64(p.t.c.Work(y.all.delta))-w, rounds+1
		}
		for i := range y.parts {
			sum, n = sum+float64(p.t.c.Work(y.parts[i].delta)), n+1
		}
	}
	if own == 0 || sum == 0 {
		return 0, 0
	}
	each := sum / n * rounds
	return own / each, before / each
}

// besides: of two threads the dispatcher does its share too, at least a fourth of
// the other one's. Else one merely has its work done by the other.
func (p *poolRule) besides(c *crew) bool {
	share, _ := p.share(c)
	return share*4 >= 1
}

// rebase: what a thread has done until it last woke somebody, or came to wait,
// is reckoned from when it last went on, where its part begins now.
func (h *hand) rebase(x *thread) {
	if len(h.in) > 0 || h.awaits {
		h.arrived.since(x, &h.since)
	}
	if h.woke != nil && h.cuts == x.cuts {
		h.woke.since(x, &h.since)
		h.cuts++
	}
}
