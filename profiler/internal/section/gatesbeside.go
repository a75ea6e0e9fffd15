package section

import (
	"cmp"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Threads may meet at two places in turn, each of which is code with gates of its own. What
// they do before either is known to be a meeting would be in a part of the one that
// is known first as a whole, and in none of the other's. So the first waits for the other
// one, for some rounds, and both are decided at once: what a thread did before a gate
// begins where it last came out of either.

// mark is where a thread has come out of other code, on its way to a gate.
type mark struct {
	of     *code
	before []record.Delta // what of that way it had done then
	site   profile.Addr
	tsc    uint64
	cpu    int64
}

// passed are the marks of other code that is undecided, since a thread last passed this.
func (g *gateRule) passed(c *code, x *thread, last *passing) (list []mark) {
	if c.state != undecided {
		return nil
	}
	again := last != nil && last.cuts == x.cuts
	for _, d := range g.codes {
		q := d.seen[x]
		if d == c || d.state != undecided || q == nil || q.inside || q.cuts != x.cuts || again && q.tsc < last.tsc {
			continue
		}
		m := mark{d, q.acc, q.arrived.site, q.tsc, q.cpu}
		if again {
			m.before = record.Sub(q.acc, last.acc)
		}
		list = append(list, m)
	}
	return list
}

// trial is the one that is believed; nil: none.
func (c *code) trial() *trial {
	for _, t := range []*trial{&c.all, &c.objects} {
		if !t.refuted {
			return t
		}
	}
	return nil
}

// acceptBeside accepts a meeting with those that threads have come to on their way to it,
// and that are to be accepted too; it waits for these as long as it would for a few rounds.
func (g *gateRule) acceptBeside(c *code, t *trial, atEnd bool) {
	list, waits := []*code{c}, false
	for _, y := range t.rounds {
		for _, m := range slices.Concat(y.passed...) {
			d := m.of
			if d.state != undecided || slices.Contains(list, d) {
				continue
			}
			u := d.trial()
			switch {
			case u == nil || len(u.rounds) == 0:
			case !u.enough(atEnd):
				waits = true
			case !g.t.pools.serves(u.rounds[len(u.rounds)-1].arrivals) && !g.t.out.foreign(u.rounds[len(u.rounds)-1].arrivals):
				list = append(list, d)
			}
		}
	}
	if waits && !atEnd && len(t.rounds) < 2*surely {
		return
	}
	slices.SortFunc(list, func(a, b *code) int { return cmp.Compare(a.number, b.number) })
	g.accept(list)
}

// accept files the rounds of the trials of code that is passed in turn; from here on parts
// end at the gates.
func (g *gateRule) accept(list []*code) {
	rounds := make([][]*round, len(list))
	for k, c := range list {
		t := c.trial()
		for _, u := range []*trial{&c.all, &c.objects} {
			if u != t {
				u.rounds, u.refuted = nil, true
			}
		}
		rounds[k] = slices.DeleteFunc(t.rounds, func(y *round) bool { return y.taken() })
		t.rounds = nil
		for _, y := range rounds[k] {
			y.beginAt(list)
		}
		for _, y := range t.open {
			y.beginAt(list)
		}
	}
	for k, c := range list {
		t := c.trial()
		for _, y := range rounds[k] {
			t.right++
			g.file(t, y)
		}
	}
	g.endAtGates(list)
	for _, c := range list {
		g.settle(c, meeting)
	}
}

// beginAt has what threads did before a round begin where they last came out of any of some
// code that they have passed on their way.
func (y *round) beginAt(list []*code) {
	for i, marks := range y.passed {
		var last *mark
		for k := range marks {
			if m := &marks[k]; slices.Contains(list, m.of) && (last == nil || m.tsc > last.tsc) {
				last = m
			}
		}
		if last == nil {
			continue
		}
		a := &y.arrivals[i]
		a.delta = record.Sub(a.delta, last.before)
		a.begin, a.beginTSC = last.site, last.tsc
		if a.timed = last.cpu >= 0 && a.cpu >= 0; a.timed {
			a.busyNS = max(0, a.cpu-last.cpu)
		}
	}
}

// endAtGates ends the parts of those who have passed code where they last came to it or out of it.
func (g *gateRule) endAtGates(list []*code) {
	last := map[*thread]*code{}
	when := func(p *passing) uint64 {
		if p.inside {
			return p.arrived.tsc
		}
		return p.tsc
	}
	for _, c := range list {
		for x, p := range c.seen {
			d := last[x]
			if d == nil || d.seen[x].cuts != x.cuts || p.cuts == x.cuts && when(p) > when(d.seen[x]) {
				last[x] = c
			}
		}
	}
	for x, c := range last {
		p := c.seen[x]
		switch {
		case p.cuts != x.cuts:
			x.helpedSince(p)
		case p.inside:
			x.lacks = c.ends(x, x.acc, p.arrived.cpu)
			// The arrival is less what came before the last passing, the counters are not.
			x.acc, x.begin, x.beginTSC, x.cpu = nil, p.arrived.site, p.arrived.tsc, p.arrived.cpu
		default:
			x.lacks = c.ends(x, p.acc, p.cpu)
			x.acc = record.Sub(x.acc, p.acc)
			x.begin, x.beginTSC, x.cpu = p.arrived.site, p.tsc, p.cpu
		}
		if p.cuts == x.cuts {
			x.before, x.inner, x.innerBusy = nil, nil, 0
		}
		x.cuts++
		p.cuts = x.cuts
	}
}
