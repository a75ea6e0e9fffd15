package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Goroutines that live on and are sent work by the one that made them:
//
//	maker    sends, sends ─ receives, receives ─ sends, sends ─ …
//	made       └─ works, sends ───┘                └─ …
//
// When it has received as much as it sent, and they have sent it all, nothing is left
// to do: that was a round. So it is on whatever channels the work goes out, and however
// many pieces each of them takes. Where it sends one piece after another has come back,
// nobody meets anybody, and what is done so belongs to no round, or to a longer one.
// Those that only send, as most that a goroutine makes for one thing, are no such: their
// batch is.

// errands are what a goroutine has those do that it has made, since all was done last.
type errands struct {
	sent, received int // by the maker,
	answers        int // and by those that it has made
	most           int // how much was out at a time
	began          uint64
	to             []uint64 // channels on which it sent
	last           map[*thread]arrival
	at             profile.Addr // where it last received
	chain          []uint64

	crews [][]*thread // that have shared rounds
	tried int         // how much was sent before there was any
	idle  int         // and since the last
}

const (
	sendTrial = 4096  // where there have been no rounds: what more is sent is of no interest
	sendIdle  = 65536 // likewise of one that has had others do work, and of these, since the last
)

// first: a goroutine receives something for the first time.
func (g *goRule) first(x *thread, r record.Record) {
	if x.parent != nil && (x.parent.alive || g.errands[x.parent] != nil) {
		x.receives = true
		if g.kin[x.parent] == nil {
			g.kin[x.parent] = map[uint64][]*thread{}
		}
		g.kin[x.parent][r.Arg1] = append(g.kin[x.parent][r.Arg1], x)
	}
}

// sends: a goroutine sends something.
func (g *goRule) sends(x *thread, r record.Record) {
	g.holds(x, r)
	y := g.errands[x]
	if y == nil && len(g.batches[x]) > 0 {
		y = &errands{last: map[*thread]arrival{}, began: r.TSC}
		g.errands[x] = y
	}
	if y != nil {
		if y.received > 0 {
			g.round(x, r.TSC)
		}
		y.sent++
		y.most = max(y.most, y.sent-y.received)
		if !slices.Contains(y.to, r.Arg1) {
			y.to = append(y.to, r.Arg1)
		}
		g.tries(y)
	}
	if y = g.errands[x.parent]; y == nil {
		g.tried++
	} else if !x.taken() || y.crew(x) >= 0 {
		y.answers++
		y.last[x] = x.arrive(r)
		g.tries(y)
	}
}

// tries counts what is sent.
func (g *goRule) tries(y *errands) {
	if y.idle++; y.crews == nil {
		y.tried++
		g.tried++
	}
}

// more tells whether more of what a goroutine sends is of interest.
func (g *goRule) more(x *thread) bool {
	for _, y := range []*errands{g.errands[x], g.errands[x.parent]} {
		if y != nil && y.crews != nil && y.idle < sendIdle {
			return true
		}
	}
	return g.tried < sendTrial
}

// crew is the number of the crew that a goroutine is of; −1: none.
func (y *errands) crew(x *thread) int {
	return slices.IndexFunc(y.crews, func(c []*thread) bool { return slices.Contains(c, x) })
}

// known: somebody has worked who has shared a round with others.
func (y *errands) known() bool {
	for x := range y.last {
		return y.crew(x) >= 0
	}
	return false
}

// round files what was done for a maker, if all of it was.
func (g *goRule) round(maker *thread, tsc uint64) {
	y := g.errands[maker]
	if y == nil || y.sent != y.received || y.answers != y.received || y.most < 2 || len(y.last) < 2 && !y.known() {
		return
	}
	g.tried -= y.tried
	var parts []arrival
	for _, w := range g.crewOf(maker, y) {
		a, worked := y.last[w]
		switch {
		case !worked && !w.alive && !w.taken():
			a = *w.end // it has come to nothing
		case !worked:
			a = arrival{t: w, tsc: y.began, beginTSC: y.began, begin: w.begin, timed: true}
		case w.alive:
			w.cut(a, a.tsc)
		}
		a.site, a.chain = y.at, y.chain
		parts = append(parts, a)
	}
	g.file(parts, maker.id)
	*y = errands{last: map[*thread]arrival{}, began: tsc, crews: y.crews}
}

// crewOf makes a crew of those that worked in a round, of who could have and of the
// crews that they were of, and returns who of it was there.
func (g *goRule) crewOf(maker *thread, y *errands) (there []*thread) {
	var crew []*thread
	add := func(x *thread) {
		if !slices.Contains(crew, x) {
			crew = append(crew, x)
		}
	}
	for x := range y.last {
		add(x)
	}
	for _, channel := range y.to {
		for _, x := range g.kin[maker][channel] {
			if !x.taken() {
				add(x)
			}
		}
	}
	for _, x := range slices.Clone(crew) {
		if k := y.crew(x); k >= 0 {
			for _, z := range y.crews[k] {
				add(z)
			}
			y.crews = slices.Delete(y.crews, k, k+1)
		}
	}
	there = slices.DeleteFunc(crew, func(x *thread) bool {
		_, worked := y.last[x]
		return !worked && !x.alive && x.last < y.began
	})
	slices.SortFunc(there, func(a, b *thread) int { return int(a.id - b.id) })
	y.crews = append(y.crews, there)
	return there
}
