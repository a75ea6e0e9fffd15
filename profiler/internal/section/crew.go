package section

import "slices"

// crew is what works for a dispatcher that waits on one line.
type crew struct {
	state   codeState
	shifts  []*shift // that are over, until it is decided
	steady  bool     // each time the same threads
	took    int      // parts in all of them,
	shared  int      // which are two or more in so many
	overran int
	trailed int
	broken  int
	members []*thread
	loose   bool // a pool of whoever is free: many may have no part in a round
	works   bool // the dispatcher too,
	atOnce  bool // and hardly before it wakes somebody
	known   int  // rounds since it is known to be a pool,
	late    int  // and those in which somebody worked on
	filed   map[*open]bool
}

const (
	fewShifts  = 3  // after which it is a pool, of the same threads
	someShifts = 6  // likewise, of most of them: where it is few, a round may be a piece of one;
	moreShifts = 10 // of whoever was free: on few cores one takes what another one was woken for
	noShifts   = 24 // after which it is none, if anything speaks against it
	mostShifts = 240
)

// knows notes who has worked in a round.
func (c *crew) knows(y *shift) {
	for i := range y.parts {
		if w := y.parts[i].t; !slices.Contains(c.members, w) {
			c.members = append(c.members, w)
			c.steady = c.steady && len(c.shifts) == 0
		}
	}
}

// tally adds a round to those by which it is decided.
func (c *crew) tally(y *shift) {
	c.steady = c.steady && len(y.parts) == len(c.members)
	c.shifts = append(c.shifts, y)
	if c.took += len(y.parts); len(y.parts) > 1 {
		c.shared++
	}
	if y.overran {
		c.overran++
	}
	if y.trails {
		c.trailed++
	}
}

// anew: all who worked in rounds so far have ended, and others work in the next one. Those
// were no rounds of a pool, which keeps its threads: they are joined, or waited for, by
// whoever created them for one round.
func (p *poolRule) anew(c *crew, y *shift) {
	if c.state != undecided || len(c.members) == 0 || slices.ContainsFunc(c.members, func(w *thread) bool { return w.alive }) {
		return
	}
	for i := range y.parts {
		if a := &y.parts[i]; slices.Contains(c.members, a.t) && (!a.ended || p.t.c.Work(a.delta) >= mostIdly) {
			return
		}
	}
	*c = crew{steady: true, filed: c.filed}
}

// joined: of what threads did in their lives an instance was made, since who created them
// has joined them. So it is of no round, too, that is not known to be one by now: who
// creates others for each round, lets them wait for work and joins them has no pool of them.
func (p *poolRule) joined(x *thread, parts []arrival) {
	h := p.hands[x]
	if h == nil {
		return
	}
	theirs := func(a arrival) bool { return hasPart(parts, a.t) }
	h.now.parts = slices.DeleteFunc(h.now.parts, theirs)
	for _, c := range h.lines {
		if c.state != undecided || !slices.ContainsFunc(c.members, func(w *thread) bool { return hasPart(parts, w) }) {
			continue
		}
		rest := slices.DeleteFunc(c.shifts, func(y *shift) bool { return slices.ContainsFunc(y.parts, theirs) })
		*c = crew{steady: true, filed: c.filed, broken: c.broken}
		for _, y := range rest {
			c.knows(y)
			c.tally(y)
		}
	}
}

// decide whether it is a pool, as soon as that is known.
func (p *poolRule) decide(h *hand, c *crew) {
	n := len(c.shifts)
	most := c.took*3 >= n*len(c.members)*2 // of the threads, on average
	switch {
	case c.overran > 1 && !c.few(c.overran) || n >= noShifts && !c.few(c.against()) || n >= mostShifts || p.alike(c, &c.shifts[n-1].end):
		c.state, c.shifts = noMeeting, nil
	case len(c.members) == 1 && n >= someShifts && c.overran == 0 && c.few(c.trailed) && p.besides(c):
		p.accept(c) // one works for another, which does its share meanwhile
	case n >= fewShifts && c.steady && c.few(c.overran) && len(c.members) > 1 && !p.leavesOut(c), n >= someShifts && most && len(c.members) > 1 && c.few(c.overran) && c.trailed*4 <= n, c.together(moreShifts):
		c.loose = !most
		p.accept(c)
	}
}

// coordinates: a thread lets others go on at what turned out to be a barrier of theirs. What
// they do until the next one is no round of a pool, too.
func (p *poolRule) coordinates(x *thread, waiting []arrival) {
	h := p.hands[x]
	if h == nil {
		return
	}
	h.lets = h.lets[:0]
	for i := range waiting {
		h.lets = append(h.lets, waiting[i].t)
	}
	for _, c := range h.lines {
		if c.state == undecided && len(c.members) > 0 && among(c.members, h.lets) {
			c.state, c.shifts = noMeeting, nil
		}
	}
}

// coordinates tells whether a round is of threads that it lets go on at a barrier of theirs.
func (h *hand) coordinates(y *shift) bool {
	return !slices.ContainsFunc(y.parts, func(a arrival) bool { return !slices.Contains(h.lets, a.t) })
}

// among tells whether threads are all of others.
func among(list, others []*thread) bool {
	return !slices.ContainsFunc(list, func(x *thread) bool { return !slices.Contains(others, x) })
}

// few: an eighth of the rounds at most.
func (c *crew) few(k int) bool { return k*8 <= len(c.shifts) }

// against is how many rounds speak against a pool.
func (c *crew) against() int { return c.overran + c.broken + c.trailed }

// together: two work in a round or more, in so many of them, and hardly ever does somebody
// work on after one to speak of. Who waits for something else would have met somebody at
// work. The others tell nothing: on few cores one does all before another one is on a core.
func (c *crew) together(rounds int) bool {
	return len(c.members) > 1 && c.shared >= rounds && c.against()*8 <= c.shared
}

// leavesOut reports whether threads of the same creator that wait where the
// members do have had nothing to do yet.
func (p *poolRule) leavesOut(c *crew) bool {
	last := c.shifts[len(c.shifts)-1]
	for _, w := range p.t.threads {
		h := p.hands[w]
		if w.alive && w.parent == last.end.t && h != nil && h.began() && slices.Contains(last.numbers, h.number) && !slices.Contains(c.members, w) {
			return true
		}
	}
	return false
}

// selfStarting: threads that work before they wait for the first time meet
// there, and nobody hands them work out. Some of a pool's may do so too, if there
// is work already when they first look.
func (p *poolRule) selfStarting(list []*thread) bool {
	n := 0
	for _, w := range list {
		if h := p.hands[w]; h.first*4 > h.most {
			n++
		}
	}
	return n*2 > len(list)
}

// alike reports whether a member waits somewhere as the dispatcher does: then it
// is one of them, who meet there or take from a store, and hands nothing out.
func (p *poolRule) alike(c *crew, end *arrival) bool {
	own, others := p.postOf(end), p.hands[end.t].posts
	return slices.ContainsFunc(c.members, func(w *thread) bool {
		its := p.hands[w].posts
		return slices.ContainsFunc(its, func(x post) bool {
			return x[0] == own[0] && (x[1] == own[1] || x[1] == "" || own[1] == "" || x.inCommon(its, own, others))
		})
	})
}

// post is where a thread waits, and where that was called from, as lines; "" where
// that is not known, or a thread began there.
type post [2]string

// inCommon: two threads that wait on one line, called from different ones, do so
// in the same function, which waits elsewhere too; else it may do nothing else.
func (x post) inCommon(its []post, y post, others []post) bool {
	return slices.ContainsFunc(its, func(a post) bool {
		return a[0] != x[0] && a[1] == x[1] && slices.Contains(others, post{a[0], y[1]})
	})
}

func (p *poolRule) postOf(a *arrival) (x post) {
	for i, s := range p.t.out.spots(a) {
		if i < len(x) {
			x[i] = s.line
		}
	}
	return x
}

// doubt takes a pool back in which many turn out to work on while the dispatcher
// goes on, or to wait where it does: what its rounds are a part of is not known.
func (p *poolRule) doubt(c *crew, y *shift) {
	c.known++
	if y.overran || !c.steady && y.trails {
		c.late++
	}
	often := 2
	if c.loose {
		often = 6
	}
	if (c.late < someShifts || c.late*often < c.known) && !p.alike(c, &y.end) {
		return
	}
	for o := range c.filed {
		p.t.out.drop(o)
	}
	c.state = noMeeting
	for _, x := range append(slices.Clone(c.members), y.end.t) {
		p.hands[x].takeBack(x)
	}
	for _, n := range y.numbers { // parts do not begin there, unless it is of another pool
		if p.codes.is(n, ofPool) {
			p.codes.becomes(n, maybeIdle)
		}
	}
}

// decideAtEnd: fewer rounds are enough when there are no more.
func (p *poolRule) decideAtEnd(h *hand) {
	if n := len(h.past); n > 0 {
		h.past[n-1].acted = true
		p.settle(h)
	}
	for _, c := range h.lines {
		if n := len(c.shifts); c.state == undecided && len(c.members) > 1 && (n > 1 && c.steady && c.overran == 0 || c.together(someShifts)) {
			p.accept(c)
		}
	}
}
