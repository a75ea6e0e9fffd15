package section

import (
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// poolRule: a thread has others do work that it created for that, and waits
// until they have.
//
//	dispatcher ──▷ lets them go on ─────── waits ─────────▷ is let go on     a round
//	workers    idle ──▷ go on, work, come back to idle, perhaps several times
//
// Whoever begins to work after one wait of the dispatcher and before the end of
// its next one, has worked in that round: so it is in every pool, however they
// wait. It is no pool if some work on while the dispatcher goes on, as the
// stages of a pipeline do, or if others work each time.
type poolRule struct {
	t     *Tracker
	hands map[*thread]*hand
	codes idleCodes

	rounds int                           // so far, of all pools
	places map[profile.Addr]profile.Addr // by start function: where such threads idle
}

// hand is what a thread is about.
type hand struct {
	in      []record.Record // of the idle code that it is in, as it came
	number  uint64          // the outermost
	numbers []uint64        // all that it has been in
	first   uint64          // what it had done when it first came to wait
	most    uint64          // and between two waits, at most
	atOnce  *arrival        // what it did until then, if that may be of a round
	posts   []post          // where
	passed  int             // how often it has come out of idle code
	awaits  bool            // it waits for futures, until it does something else
	arrived arrival

	// Since it last went on; another rule may have cut its part since.
	round *shift
	since passing
	// The round that it came back to last, and its cuts then.
	came     *shift
	cameCuts int

	undone *undone

	// Of a thread that lets others work:
	now     *shift
	lets    []*thread // whom it lets go on at a barrier of theirs
	looked  *look     // its last look at a future, nil: none, or it has been woken since
	past    []*shift  // that are over, but not all have come back
	opening *shift    // before them: all may have begun at once
	lines   map[string]*crew
	woke    *arrival // when it first woke somebody since it last went on
	cuts    int      // at that time
}

const (
	lateNS    = 100e3
	mostPosts = 32 // of one thread that are kept
)

func pools(t *Tracker) rule {
	p := &poolRule{t: t, hands: map[*thread]*hand{}, codes: idleCodes{all: map[uint64]*idleCode{}}, places: map[profile.Addr]profile.Addr{}}
	if t != nil {
		t.pools = p
	}
	return rule{
		calls: []call{
			{names: []string{record.Idle}, arrive: p.enter, leave: p.leave, meets: true},
			{names: []string{record.Hands}, arrive: p.wakes},
		},
		dying: p.dying,
		end:   p.end,
	}
}

// passed is how often a thread has come out of idle code; 0: that is not known.
func (p *poolRule) passed(x *thread) int {
	h := p.hands[x]
	if h == nil || len(h.in) == 0 || p.codes.is(h.in[len(h.in)-1].Arg3, closed) {
		return 0
	}
	return 1 + h.passed
}

func (p *poolRule) hand(x *thread) *hand {
	h := p.hands[x]
	if h == nil {
		h = &hand{lines: map[string]*crew{}, now: &shift{}}
		p.hands[x] = h
	}
	return h
}

// began: it has been idle before.
func (h *hand) began() bool { return len(h.numbers) > 0 }

func (p *poolRule) enter(x *thread, r record.Record) {
	p.awaited(x, r)
	h := p.hand(x)
	p.acts(x, h, r.Arg3)
	if p.codes.is(r.Arg3, closed) { // the thread has yet to be told
		return
	}
	h.in = append(h.in, r)
	if len(h.in) == 1 {
		p.idle(x, h, r)
	}
}

// idle: a thread has come to wait.
func (p *poolRule) idle(x *thread, h *hand, r record.Record) {
	h.number, h.arrived = r.Arg3, x.arrive(r)
	first := !h.began()
	if !slices.Contains(h.numbers, h.number) {
		h.numbers = append(h.numbers, h.number)
	}
	if w := p.postOf(&h.arrived); len(h.posts) < mostPosts && !slices.Contains(h.posts, w) {
		h.posts = append(h.posts, w)
	}
	p.t.joins.waits(x, h.arrived)
	p.back(x, h, h.arrived)
	if first {
		h.first, h.atOnce = p.t.c.Work(x.acc), fromBirth(x, &h.arrived)
		p.begins(x, h.arrived.site)
	}
}

// back: a thread that worked has nothing more to do.
func (p *poolRule) back(x *thread, h *hand, a arrival) {
	y := h.round
	if y == nil {
		return
	}
	h.round = nil
	h.came, h.cameCuts = y, h.since.cuts
	y.out--
	if x.cuts != h.since.cuts {
		y.broken = true
	} else {
		a.since(x, &h.since)
		a.begin = p.begins(x, h.since.arrived.site)
		a.waits = since(a.waits, a.beginTSC)
		h.most = max(h.most, p.t.c.Work(a.delta))
		y.add(a)
		if busy := float64(a.busyNS) - float64(y.over-min(y.over, a.beginTSC))*p.t.c.NSPerTick; y.over > 0 && a.tsc > y.over {
			y.overran = y.overran || busy > lateNS || !a.timed
			y.trails = y.trails || busy > max(lateNS/10, lateShare*float64(a.busyNS)) || !a.timed
		}
	}
	d := p.hand(x.parent)
	if y != d.current() && y != d.now && y.out == 0 {
		p.settle(d)
	}
}

// begins is one of the places where threads of a function idle: which of them a
// thread came to last says nothing of what it does next.
func (p *poolRule) begins(x *thread, site profile.Addr) profile.Addr {
	if p.places[x.start] == 0 {
		p.places[x.start] = site
	}
	return p.places[x.start]
}

func (p *poolRule) leave(x *thread, r record.Record) {
	h := p.hand(x)
	i := len(h.in) - 1
	for i >= 0 && h.in[i].Arg3 != r.Arg3 {
		i--
	}
	if i < 0 {
		return
	}
	h.passed++
	next := slices.Clone(h.in[i+1:])
	if h.in = h.in[:i]; i > 0 {
		return
	}
	p.goes(x, h, r)
	if len(next) > 0 { // what it waits for next begins before this ends
		h.in = next
		next[0].TSC = r.TSC
		p.idle(x, h, next[0])
	}
}

// goes: a thread has come out of a wait.
func (p *poolRule) goes(x *thread, h *hand, r record.Record) {
	p.t.joins.goes(x, r)
	waits := len(x.waits) > len(h.arrived.waits)
	if p.codes.pass(h.number, r.TSC-h.arrived.tsc, r.TSC-max(h.since.tsc, x.born), waits) || p.withinRounds(h.number) {
		p.close(h.number)
	}
	p.goesOn(x, h, r)
	if d := p.hands[x.parent]; x.parent != nil && p.isSeen(h) {
		if d == nil {
			d = p.hand(x.parent)
		}
		h.round = d.current()
		h.round.begins(x, h.number)
		if p.codes.is(h.number, ofPool) {
			h.ends(x, x.acc)
			left(x, r)
		}
	}
	h.since = passing{arrived: h.arrived, cuts: x.cuts, acc: slices.Clip(x.acc), tsc: r.TSC, cpu: x.clock}
}

// withinRounds: code in which threads have waited between rounds, too, but which they pass
// again and again in each, as where one waits for a row that another one has yet to decode.
// There is other code to which each of them comes once a round.
func (p *poolRule) withinRounds(number uint64) bool {
	if i := p.codes.of(number); i.state != ofPool || i.passed%idleTrial != 0 || p.rounds < fewShifts {
		return false
	}
	for _, h := range p.hands {
		if slices.Contains(h.numbers, number) && !slices.ContainsFunc(h.numbers, func(other uint64) bool { return p.codes.within(number, other, p.rounds) }) {
			return false
		}
	}
	return true
}

// isSeen tells whether a thread that came out of idle code will be seen to come back: to
// that, or to other code to which it came before.
func (p *poolRule) isSeen(h *hand) bool {
	return slices.ContainsFunc(h.numbers, func(n uint64) bool { return !p.codes.is(n, closed) })
}

// close: idle code that is passed again and again is of no pool, or lies within its rounds.
func (p *poolRule) close(number uint64) {
	p.codes.becomes(number, closed)
	for _, h := range p.hands {
		if y := h.round; y != nil && h.number == number && !p.isSeen(h) {
			y.broken, h.round = true, nil
			y.out--
		}
	}
	p.tell(number, false)
}

func (p *poolRule) tell(number uint64, of bool) {
	if f := p.t.c.Gate; f != nil {
		f(number, of)
	}
}

// goesOn: a thread was let go on. If others have begun to work for it, that was
// a round.
func (p *poolRule) goesOn(x *thread, h *hand, r record.Record) {
	woke := h.woke
	h.woke = nil
	if h.now.out == 0 && len(h.now.parts) == 0 {
		if h.opening == nil {
			h.opening = &shift{end: h.arrived, over: r.TSC}
		}
		return
	}
	c := p.crew(h, h.arrived.site)
	if c.state == noMeeting {
		h.woke = woke
		return
	}
	y := h.now
	y.doubtful = c.state == meeting && c.steady && !y.futures && y.out > 0 && y.misses(c)
	next := &shift{}
	y.end, y.over = h.arrived, r.TSC
	if h.looked != nil {
		next, y.over, h.looked = h.looked.next, h.looked.tsc, nil
	}
	y.all = h.whole(x)
	if woke != nil && h.cuts == x.cuts {
		a := h.arrived
		a.since(x, &passing{arrived: *woke, acc: woke.delta, tsc: woke.tsc, cpu: woke.cpu})
		y.own = &a
	}
	h.past, h.now = append(h.past, y), next
	if c.state == meeting {
		h.ends(x, x.acc)
		left(x, r)
	}
	p.settle(h)
}

func (p *poolRule) crew(h *hand, site profile.Addr) *crew {
	line := p.t.c.Line(site)
	c := h.lines[line]
	if c == nil {
		c = &crew{steady: true, filed: map[*open]bool{}}
		h.lines[line] = c
	}
	return c
}

// wakes notes that a thread lets others go on.
func (p *poolRule) wakes(x *thread, r record.Record) {
	p.awaited(x, r)
	h := p.hand(x)
	if h.woke == nil {
		a := x.arrive(r)
		h.woke, h.cuts = &a, x.cuts
	}
	p.acts(x, h, 0)
}

func (p *poolRule) judge(h *hand, c *crew, y *shift) {
	if c.state == undecided && len(y.parts) > 0 && h.coordinates(y) {
		c.state, c.shifts = noMeeting, nil
	}
	if c.state == noMeeting || p.onlyEnds(y) {
		return
	}
	if y.broken || len(y.parts) == 0 {
		if c.broken++; c.state == undecided && c.broken >= noShifts {
			c.state = noMeeting
		}
		return
	}
	p.anew(c, y)
	c.knows(y)
	if c.state == meeting {
		p.keep(y)
		p.file(c, y)
		p.doubt(c, y)
		return
	}
	c.tally(y)
	p.decide(h, c)
}

// accept files the rounds that there were; from here on parts end at the waits.
func (p *poolRule) accept(c *crew) {
	c.state = meeting
	p.takesPart(c)
	if y := p.hands[c.shifts[0].end.t].opening; y != nil && p.opened(c, y) {
		p.file(c, y)
	}
	for _, y := range c.shifts {
		p.keep(y)
		p.file(c, y)
	}
	last := c.shifts[len(c.shifts)-1]
	p.t.joins.ofPool(last.end.t)
	c.shifts = nil
	for _, x := range append(slices.Clone(c.members), last.end.t) {
		h := p.hands[x]
		if h.since.cuts != x.cuts {
			continue
		}
		over := h.since.acc
		if len(h.in) > 0 {
			over = x.acc
		}
		h.restarts(x, over)
	}
}

// restarts has a thread's part begin where it last went on, what it did before being over.
func (h *hand) restarts(x *thread, over []record.Delta) {
	h.ends(x, over)
	h.rebase(x)
	x.acc = record.Sub(x.acc, over)
	x.begin, x.beginTSC, x.cpu = h.since.arrived.site, h.since.tsc, h.since.cpu
	x.keepWaits()
	x.cuts++
	h.since.acc, h.since.cuts = nil, x.cuts
}

// keep has the code that a round's threads idle in watched for ever.
func (p *poolRule) keep(y *shift) {
	numbers := y.numbers
	if h := p.hands[y.end.t]; h.began() {
		numbers = append(numbers, h.number)
	}
	for _, n := range numbers {
		if p.codes.is(n, maybeIdle) {
			p.codes.becomes(n, ofPool)
			p.tell(n, true)
		}
	}
}

// file makes an instance of a round. Who had nothing to do in it has a part.
func (p *poolRule) file(c *crew, y *shift) {
	y.filed = true
	p.rounds++
	for _, x := range y.dead {
		p.t.joins.spent(x)
	}
	parts := p.fill(c, y, slices.Clone(y.parts))
	switch {
	case c.works && y.own != nil:
		parts = append(parts, *y.own)
	case c.works && c.atOnce && y.all != nil: // nobody had to be woken: that is not recorded
		parts = append(parts, *y.all)
	}
	for i := range parts {
		parts[i].site, parts[i].chain = y.end.site, y.end.chain
	}
	p.t.file(profile.Join, parts, byLibrary)
	if o := p.t.out.latest; o != nil {
		o.instances[len(o.instances)-1].waiter = y.end.t.id + 1
		c.filed[o] = true
	}
}

// serves tells whether threads that meet at a place wait there for what the one
// that created them hands out, as they did before they had done anything: all of
// them come before any goes on, but it is not each other that they wait for.
func (p *poolRule) serves(list []arrival) bool {
	d := p.hands[list[0].t.parent]
	if d == nil || !slices.ContainsFunc(slices.Collect(maps.Values(d.lines)), func(c *crew) bool {
		return c.state == meeting || c.state == undecided && len(c.shifts) > 0
	}) {
		return false
	}
	var workers []*thread
	for i := range list {
		a := &list[i]
		if p.hands[a.t] == nil || a.t.parent != list[0].t.parent || p.t.c.Line(a.site) != p.t.c.Line(p.places[a.t.start]) {
			return false
		}
		workers = append(workers, a.t)
	}
	return !p.selfStarting(workers)
}

// handsOut tells whether a thread that wakes others has handed them work out:
// they are its workers, idle, and waited before they worked.
func (p *poolRule) handsOut(x *thread, waiting []arrival) codeState {
	var list []*thread
	later := uint64(0)
	for i := range waiting {
		w := waiting[i].t
		h := p.hands[w]
		if w.parent != x || h == nil || len(h.in) == 0 {
			return noMeeting
		}
		list, later = append(list, w), later+h.most
	}
	refuted, accepted, theirs := false, false, false
	if d := p.hands[x]; d != nil {
		for _, c := range d.lines {
			refuted, accepted = refuted || c.state == noMeeting, accepted || c.state == meeting
			theirs = theirs || c.state == meeting && among(list, c.members)
		}
	}
	switch {
	case theirs: // what they do is of its rounds, which have ended
		return meeting
	case refuted && !accepted:
		return noMeeting
	case later == 0:
		return undecided
	case p.selfStarting(list):
		return noMeeting
	}
	return meeting
}

func (p *poolRule) dying(x *thread) {
	h := p.hands[x]
	if h == nil {
		return
	}
	y, before := h.round, h.came
	if h.cameCuts != x.cuts {
		before = nil // all that is over
	}
	if y != nil { // it does not come back, but ends
		a := x.arrive(record.Record{TSC: x.last})
		a.ended = true
		p.back(x, h, a)
	}
	p.decideAtEnd(h)
	p.ends(x.parent)
	if y != nil && h.since.cuts == x.cuts {
		p.spends(x, h, y, before)
	}
}

// spends: what a thread that has ended in a round did is no part of its join, too. Its
// part may have begun rounds before, for where it waited last for a lock none begins.
func (p *poolRule) spends(x *thread, h *hand, y, before *shift) {
	switch {
	case y.filed, y.over > 0 && p.codes.is(h.number, ofPool):
		x.cut(x.arrive(record.Record{TSC: x.last}), x.last)
		return
	case before != nil && before != y && p.isRound(p.hand(x.parent), before):
		h.restarts(x, h.since.acc)
	}
	y.dead = append(y.dead, x)
}

// isRound tells whether it is known of a round that it was filed, or will be.
func (p *poolRule) isRound(h *hand, y *shift) bool {
	return y.filed || y.over > 0 && !y.broken && p.crew(h, y.end.site).state == meeting
}

// ends: a thread has nothing more to hand out to those that it created.
func (p *poolRule) ends(x *thread) {
	if h := p.hands[x]; h != nil {
		p.decideAtEnd(h)
	}
}

func (p *poolRule) end() {
	for _, x := range p.t.threads {
		if h := p.hands[x]; h != nil {
			p.awaited(x, record.Record{TSC: x.last})
			p.decideAtEnd(h)
		}
	}
}
