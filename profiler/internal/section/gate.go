package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// gateRule: threads come into code that does nothing but synchronise, and come
// out. It is a meeting when they do so in rounds of the same threads, and nobody
// comes out before all have come in: whoever made it, and however they wait.
// Where locks are taken, and work is handed over, one comes out while another
// has not come in.
type gateRule struct {
	t     *Tracker
	codes map[uint64]*code
	in    map[*thread][]*code // the code that a thread is in, innermost last
}

// code is what gates of one number lead into and out of.
type code struct {
	number uint64
	state  codeState
	// What makes a round: all that come into the code, or into it with the same
	// object. The first is believed as long as it may be true.
	all     trial
	objects trial
	seen    map[*thread]*passing // the last one of each thread
}

type codeState uint8

const (
	undecided codeState = iota
	meeting
	noMeeting
)

// trial is what speaks for or against rounds.
type trial struct {
	refuted bool
	rounds  []*round // that are over, until it is decided
	open    map[uint64]*round
	who     map[uint64][]profile.ThreadID // came to the round before, by object
	gone    map[*thread]bool              // were missed in a round of a meeting
	dead    map[uint64][]arrival          // have ended since the round before, by object
	held    []*kept                       // rounds of a meeting that are kept until it is known who ended in them
	queues  int                           // rounds that the first in left first, as at a lock
	crowded int                           // rounds that began while somebody was still in the one before, likewise
	right   int                           // of a meeting, so many that were one …
	wrong   int                           // … and were none
	filed   map[*open]bool                // the sections that they are in
}

// round is one meeting, or its beginning.
type round struct {
	object   uint64
	arrivals []arrival
	cuts     []int    // of each thread, when it arrived
	passed   [][]mark // what else each has passed on its way, while that is undecided
	dead     []*thread
	waits    [2][]wait // of the first and the last that came
	behind   bool      // the last one has left
}

// passing is one thread's way through the code.
type passing struct {
	rounds  [2]*round // of the two trials
	cuts    int
	inside  bool
	arrived arrival
	nested  int // passings of code in this code, at most
	// Behind it, where that is not the thread's own beginning:
	acc []record.Delta
	tsc uint64
	cpu int64
	had had
}

const (
	surely    = 3  // rounds after which it is a meeting
	surelyNot = 12 // that look like a lock, after which it is none; but see inTurn
)

func gates(t *Tracker) rule {
	g := &gateRule{t, map[uint64]*code{}, map[*thread][]*code{}}
	if t != nil {
		t.gates = g
	}
	return rule{
		calls: []call{{names: []string{record.Gate}, arrive: g.enter, leave: g.leave}},
		dying: g.dying,
		end:   g.end,
	}
}

// IsGate reports whether a kind of record is of a gate.
func IsGate(kind uint32) bool { return declared.of(kind).gate }

func (g *gateRule) enter(x *thread, r record.Record) {
	c := g.codes[r.Arg3]
	if c == nil {
		c = &code{number: r.Arg3, seen: map[*thread]*passing{}, all: newTrial(), objects: newTrial()}
		g.codes[r.Arg3] = c
	}
	outer := g.outer(x)
	g.in[x] = append(g.in[x], c)
	if c.state == noMeeting {
		return
	}
	if outer != nil {
		// Code in code: who goes round in the outer one does not pass it each time.
		p := outer.seen[x]
		if p.nested++; p.nested <= surely || outer.state == meeting {
			return
		}
		g.settle(outer, noMeeting)
	}
	last := c.seen[x]
	p := &passing{inside: true, arrived: g.t.meets(x, r)}
	if c.state == meeting {
		u := c.ends(x, x.acc, x.clock)
		x.cut(p.arrived, r.TSC)
		x.lacks = u
	} else if last != nil && last.cuts == x.cuts {
		p.arrived.since(x, last)
		p.arrived.before, p.arrived.inner, p.arrived.innerBusy = nil, nil, 0
	} else if last != nil {
		p.arrived.helpedSince(last)
	}
	passed := g.passed(c, x, last)
	p.cuts = x.cuts
	c.seen[x] = p
	for i, t := range []*trial{&c.all, &c.objects} {
		if !t.refuted {
			if c.state == undecided && c.crowds(i, t, uint64(i)*r.Arg1) {
				t.crowded++
			}
			p.rounds[i] = t.enter(uint64(i)*r.Arg1, p.arrived, passed)
			if t.gone[x] {
				delete(t.gone, x)
				t.wrong++
				g.found(t, x)
			}
		}
	}
}

// since takes what was before the end of the last passing off an arrival.
func (a *arrival) since(x *thread, p *passing) {
	a.delta = record.Sub(a.delta, p.acc)
	a.begin, a.beginTSC = p.arrived.site, p.tsc
	if a.timed = p.cpu >= 0 && a.cpu >= 0; a.timed {
		a.busyNS = max(0, a.cpu-p.cpu)
	}
}

// outer is the innermost code that a thread is in and that may be a meeting.
func (g *gateRule) outer(x *thread) *code {
	for i := len(g.in[x]) - 1; i >= 0; i-- {
		if c := g.in[x][i]; c.state != noMeeting && c.seen[x] != nil && c.seen[x].inside {
			return c
		}
	}
	return nil
}

func (g *gateRule) leave(x *thread, r record.Record) {
	c := g.codes[r.Arg3]
	list := g.in[x]
	i := len(list) - 1
	for i >= 0 && list[i] != c {
		i--
	}
	if i < 0 {
		return
	}
	g.in[x] = list[:i]
	p := c.seen[x]
	if c.state == noMeeting || p == nil || !p.inside {
		return
	}
	p.inside = false
	for i, t := range []*trial{&c.all, &c.objects} {
		y := p.rounds[i]
		if y == nil || t.refuted {
			continue
		}
		if c.state == undecided {
			y.left(x, p)
		}
		if t.open[y.object] == y {
			g.over(c, t, y, x)
		}
	}
	switch c.state {
	case meeting:
		left(x, r)
		p.cuts = x.cuts
	case undecided:
		if p.cuts != x.cuts { // another rule began a part in the meantime
			delete(c.seen, x)
			return
		}
		p.acc, p.tsc, p.cpu, p.had = slices.Clip(x.acc), r.TSC, x.clock, x.had()
		g.judge(c, false)
	}
}

func newTrial() trial {
	return trial{filed: map[*open]bool{}, open: map[uint64]*round{}, who: map[uint64][]profile.ThreadID{}, gone: map[*thread]bool{}, dead: map[uint64][]arrival{}}
}

// taken: what was done in a round became part of something else before it was
// known that it is one.
func (y *round) taken() bool {
	for i, c := range y.cuts {
		if y.arrivals[i].t.cuts != c {
			return true
		}
	}
	return false
}

func (t *trial) enter(object uint64, a arrival, passed []mark) *round {
	y := t.open[object]
	if y == nil {
		y = &round{object: object}
		t.open[object] = y
	}
	y.arrivals, y.cuts, y.passed = append(y.arrivals, a), append(y.cuts, a.t.cuts), append(y.passed, passed)
	return y
}

// over ends a round: the first thread leaves.
func (g *gateRule) over(c *code, t *trial, y *round, first *thread) {
	delete(t.open, y.object)
	if c.state == meeting {
		for _, h := range t.held {
			h.late = true
		}
		t.bury(y)
	}
	var who []profile.ThreadID
	for i := range y.arrivals {
		who = append(who, y.arrivals[i].t.id)
	}
	slices.Sort(who)
	before, again := t.who[y.object]
	t.who[y.object] = who
	right := len(who) > 1 && len(slices.Compact(slices.Clone(who))) == len(who)
	var missing []*thread
	if again && right {
		missing, right = g.company(t, before, who, c.state == meeting)
	}
	if y.arrivals[0].t == first {
		t.queues++
	}
	switch {
	case c.state == undecided && !right:
		t.refuted, t.rounds = true, nil
	case c.state == undecided:
		t.rounds = append(t.rounds, y)
	case right:
		if t.right++; len(missing) == 0 {
			g.file(t, y)
		} else {
			t.held = append(t.held, &kept{round: y, missing: missing, over: first.last})
		}
	default:
		t.wrong++
		g.doubt(c, t)
	}
}

// bury: who took part in the round before and has ended since did its share in
// this one, and left without waiting.
func (t *trial) bury(y *round) {
	for _, a := range t.dead[y.object] {
		if slices.Contains(t.who[y.object], a.t.id) {
			y.arrivals, y.dead = append(y.arrivals, a), append(y.dead, a.t)
		}
	}
	delete(t.dead, y.object)
}

func (g *gateRule) file(t *trial, y *round) {
	for _, x := range y.dead {
		g.t.joins.spent(x)
	}
	g.t.complete(profile.Barrier, &epoch{arrivals: y.arrivals})
	if o := g.t.out.latest; o != nil {
		t.filed[o] = true
	}
}

// doubt takes a meeting back that turns out to be none, as where threads only
// look whether all have come somewhere else: what it is a part of is not known.
func (g *gateRule) doubt(c *code, t *trial) {
	if t.wrong < surely || t.wrong*4 < t.right {
		return
	}
	for o := range t.filed {
		g.t.out.drop(o)
	}
	t.held = nil
	g.settle(c, noMeeting)
	g.takeBack(c)
}

// company reports whether those came who came to the round before: all but the
// dead; of a meeting some may stay away for good: these are missing.
func (g *gateRule) company(t *trial, before, who []profile.ThreadID, some bool) (missing []*thread, ok bool) {
	for _, id := range who {
		if !slices.Contains(before, id) {
			return nil, false
		}
	}
	for _, id := range before {
		x := g.t.threads[id]
		if slices.Contains(who, id) || x == nil || !x.alive {
			continue
		}
		if !some {
			return nil, false
		}
		t.gone[x], missing = true, append(missing, x)
	}
	return missing, true
}

// enough reports whether its rounds suffice.
func (t *trial) enough(atEnd bool) bool {
	n := len(t.rounds)
	if atEnd {
		return n > 1 || n == 1 && len(t.rounds[0].arrivals) > 2
	}
	return n >= surely && t.queues < n || n >= surelyNot && t.inTurn()
}

// judge decides, at the end with what there is.
func (g *gateRule) judge(c *code, atEnd bool) {
	if c.state != undecided {
		return
	}
	t := c.trial()
	if t == nil {
		g.settle(c, noMeeting)
		return
	}
	n, enough := len(t.rounds), t.enough(atEnd)
	switch {
	case enough && (g.t.pools.serves(t.rounds[n-1].arrivals) || t.awaits()):
		if atEnd || n >= surelyNot {
			g.settle(c, noMeeting)
		}
	case enough && g.t.out.foreign(t.rounds[n-1].arrivals):
		g.settle(c, noMeeting)
	case enough:
		g.acceptBeside(c, t, atEnd)
	case atEnd || n >= surelyNot:
		g.settle(c, noMeeting)
	}
}

func (g *gateRule) settle(c *code, s codeState) {
	c.state = s
	if s == noMeeting {
		c.seen, c.all, c.objects = map[*thread]*passing{}, newTrial(), newTrial()
	}
	if f := g.t.c.Gate; f != nil {
		f(c.number, s == meeting)
	}
}

// decides: a thread has met others, and what it did is about to become part of what
// its creator waits for.
func (g *gateRule) decides(x *thread) {
	for _, c := range g.sorted() {
		if p := c.seen[x]; p != nil && !p.inside {
			g.judge(c, true)
		}
	}
}

// dying: a thread that has met others takes its part in the join with it, so
// it must be decided.
func (g *gateRule) dying(x *thread) {
	for _, c := range g.sorted() {
		if p := c.seen[x]; p != nil && !p.inside {
			g.judge(c, true)
			if c.state == meeting && p.cuts == x.cuts {
				g.ends(c, p, x)
			}
		}
		delete(c.seen, x)
	}
	delete(g.in, x)
}

func (g *gateRule) end() {
	for _, c := range g.sorted() {
		g.judge(c, true)
		g.release(&c.all)
		g.release(&c.objects)
	}
}

func (g *gateRule) sorted() []*code {
	list := make([]*code, 0, len(g.codes))
	for _, c := range g.codes {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *code) int { return int(a.number) - int(b.number) })
	return list
}
