package section

import (
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Threads may stay away from a meeting for good: they ended, or do something else.
// Who ended had its share in the round that it was missed in, and it need not have
// been quick to end. So such a round is kept until it is known of all that were
// missed what became of them.

// kept is a round of a meeting in which threads were missed: it is not known
// whether they ended in it.
type kept struct {
	*round
	missing []*thread
	over    uint64 // when the first of the others left
	late    bool   // so did the first of the next round
}

// found: it is known what a thread did instead of coming to a round; when that is
// known of all, the round is filed.
func (g *gateRule) found(t *trial, x *thread) {
	t.held = slices.DeleteFunc(t.held, func(h *kept) bool {
		if h.missing = slices.DeleteFunc(h.missing, func(y *thread) bool { return x == y }); len(h.missing) > 0 {
			return false
		}
		g.file(t, h.round)
		return true
	})
}

// release files the rounds that are held.
func (g *gateRule) release(t *trial) {
	for _, h := range t.held {
		g.file(t, h.round)
	}
	t.held = nil
}

// ends: what a thread has done since it came out is of the round that it was
// missed in, or of the next one. It may end long after, if it has to wait for a
// core or for its end; what it did then was no more than there was time for in
// that round.
func (g *gateRule) ends(c *code, p *passing, x *thread) {
	a := x.arrive(record.Record{TSC: x.last})
	a.site, a.chain, a.ended = p.arrived.site, p.arrived.chain, true
	for i, t := range []*trial{&c.all, &c.objects} {
		y := p.rounds[i]
		if y == nil || t.refuted {
			continue
		}
		k := slices.IndexFunc(t.held, func(h *kept) bool { return h.object == y.object && slices.Contains(h.missing, x) })
		switch {
		case k < 0:
			t.dead[y.object] = append(t.dead[y.object], a)
		case !t.held[k].late || t.held[k].holds(&a, g.t.c.NSPerTick):
			x.cut(a, x.last)
			a.tsc = min(a.tsc, max(a.beginTSC, t.held[k].over))
			t.held[k].arrivals = append(t.held[k].arrivals, a)
		}
		g.found(t, x)
	}
}

// holds: a round was long enough for all that a thread did.
func (h *kept) holds(a *arrival, nsPerTick float64) bool {
	return a.timed && h.over > a.beginTSC && float64(a.busyNS) <= float64(h.over-a.beginTSC)*nsPerTick+lateNS
}
