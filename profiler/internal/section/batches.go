package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Goroutines that no WaitGroup holds together are waited for by channels, mostly:
//
//	maker   go go go ─ receives, receives, receives ─ go go go ─ …
//	made       └─ work, send, end                       └─ …
//
// A batch is what a goroutine made until it received something. Where it then
// received as often as it has made goroutines, by one line from one channel, that is
// where they met; else all that is known is the go statement. Who made them need not
// wait for their end at all: a batch is filed when they have ended.

// batch is what one goroutine made until it received something, and that.
type batch struct {
	begin    uint64
	sites    []profile.Addr // of go statements, by goroutine
	received int
	channel  uint64
	at       profile.Addr // where it received
	chain    []uint64
	mixed    bool      // elsewhere, too
	ended    []*thread // and are of no instance so far
	dead     int
	over     bool // another one has begun
}

// makes: a goroutine makes another one.
func (g *goRule) makes(x *thread, r record.Record) {
	list := g.batches[x]
	if list == nil {
		g.makers = append(g.makers, x)
	}
	if n := len(list); n == 0 || list[n-1].received > 0 {
		if n > 0 {
			list[n-1].over = true
			list = g.finish(list)
		}
		list = append(list, &batch{begin: r.TSC})
		g.batches[x] = list
	}
	y := list[len(list)-1]
	y.sites = append(y.sites, profile.Addr(r.Site))
}

// receives: a goroutine that has made others receives something.
func (g *goRule) receives(x *thread, r record.Record) {
	x.joining = true // for what it knows
	if y := g.errands[x]; y != nil {
		y.received++
		y.at, y.chain = profile.Addr(r.Site), r.Chain
	}
	n := len(g.batches[x])
	if n == 0 {
		return
	}
	y := g.batches[x][n-1]
	if y.received == 0 {
		y.at, y.chain, y.channel = profile.Addr(r.Site), r.Chain, r.Arg1
	}
	y.mixed = y.mixed || y.channel != r.Arg1 || g.t.c.Line(y.at) != g.t.c.Line(profile.Addr(r.Site))
	y.received++
}

// died: a goroutine has ended.
func (g *goRule) died(x *thread, a arrival) {
	if x.parent == nil {
		return // it ends before those that it has made, who may have had nothing to do
	}
	g.round(x, a.tsc)
	list := g.batches[x.parent]
	for i := len(list) - 1; i >= 0; i-- {
		if y := list[i]; y.begin <= x.born {
			if y.dead++; !g.filed[x] {
				y.ended = append(y.ended, x)
			}
			break
		}
	}
	g.batches[x.parent] = g.finish(list)
	if g.filed[x] {
		x.end = nil // nobody will ask for it
	}
}

// finish files the batches, from the first one on, that are over and complete.
func (g *goRule) finish(list []*batch) []*batch {
	for len(list) > 0 && list[0].over && list[0].dead >= len(list[0].sites) {
		g.fileBatch(list[0])
		list[0], list = nil, list[1:]
	}
	return list
}

// end files those that the end of the run has completed.
func (g *goRule) end() {
	for _, x := range g.senders {
		g.round(x, x.last)
	}
	for _, x := range g.makers {
		for _, y := range g.batches[x] {
			g.fileBatch(y)
		}
	}
}

// fileBatch makes an instance of a batch, or several of goroutines from different go
// statements that nothing holds together.
func (g *goRule) fileBatch(y *batch) {
	var parts []arrival
	for _, x := range y.ended {
		if !g.filed[x] {
			a := *x.end
			a.ended = true
			parts = append(parts, a)
		}
		if !x.receives { // else a round may want it yet
			x.end = nil
		}
	}
	if !y.mixed && y.received == len(y.sites) && len(parts) > 1 {
		for i := range parts {
			parts[i].site, parts[i].chain = y.at, y.chain
		}
		g.file(parts)
		return
	}
	bySite := map[profile.Addr][]arrival{}
	for _, a := range parts {
		a.site, a.chain = a.t.goAt, nil
		bySite[a.site] = append(bySite[a.site], a)
	}
	for _, site := range slices.Compact(slices.Sorted(slices.Values(y.sites))) {
		if list := bySite[site]; len(list) > 1 {
			g.file(list)
		}
	}
}
