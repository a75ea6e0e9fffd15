package section

import (
	"cmp"
	"maps"
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
// received as often as it has made goroutines, by one line from one channel or from as many, that is
// where they met; so it is where it sends into the channel that it has sent into before each
// (semaphores.go); else all that is known is the go statement. Who made them need not
// wait for their end at all: a batch is filed when they have ended.

// batch is what one goroutine made until it received something, and that.
type batch struct {
	begin    uint64
	clock    int64  // its maker's CPU clock then
	last     uint64 // when it received the last time,
	busy     int64  // and for how long the maker was busy until then
	made     int
	sites    []madeAt
	received int
	channels []uint64     // from which: the first ones, each once
	at       profile.Addr // where it received
	chain    []uint64
	mixed    bool      // elsewhere, too
	ended    []*thread // and are of no instance so far
	dead     int
	over     bool // another one has begun
	held     holding
}

// madeAt is a go statement, and how many that it made are not known to have ended.
type madeAt struct {
	site profile.Addr
	left int
}

// makes adds one to those that a go statement made.
func (y *batch) makes(site profile.Addr) {
	y.made++
	if i := slices.IndexFunc(y.sites, func(s madeAt) bool { return s.site == site }); i >= 0 {
		y.sites[i].left++
		return
	}
	y.sites = append(y.sites, madeAt{site, 1})
}

// has takes out one that a go statement made, if there was one.
func (y *batch) has(site profile.Addr) bool {
	i := slices.IndexFunc(y.sites, func(s madeAt) bool { return s.site == site && s.left > 0 })
	if i >= 0 {
		y.sites[i].left--
	}
	return i >= 0
}

// of is the batch that a goroutine was made in: the first that lacks one of its go
// statement. It may begin to run when the next batches have been made, but not where those
// of this one have all answered by then, though they may end later than those of the next.
func (g *goRule) of(x *thread) (y *batch) {
	list := g.batches[x.parent]
	for i, z := range list {
		if z.begin > x.born {
			break
		}
		answered := z.made > 1 && z.joins() && i+1 < len(list) && list[i+1].begin <= x.born
		if y = z; !answered && y.has(x.goAt) {
			break
		}
	}
	return y
}

// makes: a goroutine makes another one.
func (g *goRule) makes(x *thread, r record.Record) {
	g.forks(x, r)
	list := g.batches[x]
	if n := len(list); n == 0 || list[n-1].received > 0 || list[n-1].held.filled > 1 {
		if n > 0 {
			list[n-1].over = true
			g.finish(x)
		}
		list = append(g.batches[x], &batch{begin: r.TSC, clock: x.clock})
		g.batches[x] = list
	}
	y := list[len(list)-1]
	y.makes(profile.Addr(r.Site))
	y.held.makes(x)
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
	if y.held.joins(y.made) { // this only makes room again
		return
	}
	if y.received == 0 {
		y.at, y.chain = profile.Addr(r.Site), r.Chain
	}
	if y.received < mostParts && !slices.Contains(y.channels, r.Arg1) {
		y.channels = append(y.channels, r.Arg1)
	}
	y.mixed = y.mixed || g.t.c.Line(y.at) != g.t.c.Line(profile.Addr(r.Site))
	y.received++
	y.last, y.busy = r.TSC, x.clock-y.clock
}

// joins: it was received as often as goroutines were made, by one line, from what all of
// them share or from what each has for itself.
func (y *batch) joins() bool {
	return y.held.joins(y.made) || !y.mixed && y.received == y.made && (len(y.channels) == 1 || len(y.channels) == y.made)
}

// died: a goroutine has ended.
func (g *goRule) died(x *thread, a arrival) {
	if x.parent == nil {
		return // it ends before those that it has made, who may have had nothing to do
	}
	if x.coroutine {
		g.turned(x, a)
		return
	}
	if !x.taken() {
		end := a
		x.end = &end
	}
	g.round(x, a.tsc)
	if y := g.of(x); y != nil {
		if y.dead++; !x.taken() {
			y.ended = append(y.ended, x)
		}
		if y.dead == y.made && y.joins() {
			g.release(false)
		}
		g.finish(x.parent)
	}
	if x.taken() {
		x.end = nil // nobody will ask for it
	}
}

// single: no two of it that have ended are of no instance.
func (y *batch) single() bool {
	n := 0
	for _, x := range y.ended {
		if !x.taken() {
			n++
		}
	}
	return n < 2
}

// finish files the batches of a maker that are over and complete. The last one of a maker
// that has ended may be a group's yet, for which another one waits.
func (g *goRule) finish(maker *thread) {
	list := slices.DeleteFunc(g.batches[maker], func(y *batch) bool {
		done := y.dead >= y.made && (y.over || !maker.alive && y.single())
		if done {
			if maker.parent != nil { // the first one is a part of none
				maker.spends(g.waitedIn(y))
			}
			g.fileBatch(maker, y)
		}
		return done
	})
	if g.batches[maker] = list; len(list) == 0 {
		delete(g.batches, maker)
	}
}

// end files those that the end of the run has completed.
func (g *goRule) end() {
	g.left()
	g.release(true)
	byID := func(a, b *thread) int { return int(a.id - b.id) }
	for _, x := range slices.SortedFunc(maps.Keys(g.errands), byID) {
		g.round(x, x.last)
	}
	for _, x := range slices.SortedFunc(maps.Keys(g.batches), byID) {
		for _, y := range g.batches[x] {
			g.fileBatch(x, y)
		}
	}
}

// fileBatch makes an instance of a batch, or several of goroutines from different go
// statements that nothing holds together. What is inside of a recursion is left out: with
// whom its goroutines share the work is not known.
func (g *goRule) fileBatch(maker *thread, y *batch) {
	var parts []arrival
	for _, x := range y.ended {
		if !x.taken() {
			a := *x.end
			a.ended = true
			parts = append(parts, a)
		}
		if !x.receives { // else a round may want it yet
			x.end = nil
		}
	}
	if y.received > 0 && g.recurses(maker, waiting{site: y.at, chain: y.chain}) {
		return
	}
	if y.joins() && len(parts) > 1 {
		for i := range parts {
			parts[i].site, parts[i].chain = y.at, y.chain
		}
		g.file(parts, -1)
		return
	}
	bySite := map[profile.Addr][]arrival{}
	for _, a := range parts {
		a.site, a.chain = a.t.goAt, nil
		bySite[a.site] = append(bySite[a.site], a)
	}
	slices.SortFunc(y.sites, func(a, b madeAt) int { return cmp.Compare(a.site, b.site) })
	for _, s := range y.sites {
		if list := bySite[s.site]; len(list) > 1 {
			g.file(list, -1)
		}
	}
}
