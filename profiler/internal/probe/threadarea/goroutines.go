package threadarea

import (
	"sync/atomic"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Goroutine is what an area says of the goroutine that has it.
type Goroutine struct {
	Runtime, ID, Parent uint64 // where the runtime has it; its number, and that of who made it
	Created, Start      uint64 // where the go statement's call returns to; the function that it began in
	Begin, End          uint64 // time stamps; the end is 0 while it lives
}

// Goroutine is that of the area. Only once State says that it runs.
func (a *Area) Goroutine() Goroutine {
	return Goroutine{Runtime: a.get(offRuntime), ID: a.get(offGoid), Parent: a.get(offGoer), Created: a.get(offGopc), Start: a.get(offStart),
		Begin: a.get(offBorn), End: a.get(offEnded)}
}

// NewGoroutine is New for a goroutine. There are very many, so what a program in Go does
// not have is not prepared: gates.
func NewGoroutine(c *Common, mem []byte, base, cpuGap, long, now uint64) *Area {
	a := c.begin(mem, base)
	a.init(c, cpuGap, long, now)
	a.ownLive()
	return a
}

// ownLive lets an area say for itself which of its counters are looked at: there are
// many goroutines, and each enters few functions. What nobody's area says by then is what
// the runtime entered for its own ends.
func (a *Area) ownLive() {
	a.live = a
	a.put(offLive, a.base+a.l.live)
	for _, w := range a.common.always {
		a.put(w.at, w.bits)
	}
}

// Stints is how many ticks threads have spent on the goroutine, but for the one
// that runs it now, and since when that does: 0 where none does.
func (a *Area) Stints() (ticks, since uint64) {
	return atomic.LoadUint64(a.word(offStints)), atomic.LoadUint64(a.word(offResumed))
}

// Untold are the ticks of its waits for which there are no records.
func (a *Area) Untold() uint64 { return *a.word(offUntold) }

// sends is how much of what a goroutine sends is recorded until it asks.
const sends = 256

// RecordSends says whether so much more of what the goroutine sends is to be recorded,
// or nothing. For who makes others or has received something, nothing else is said
// before it asks.
func (a *Area) RecordSends(more bool) {
	n := uint32(sends + 1)
	if more {
		n = 1
	}
	atomic.StoreUint32(a.half(offSent), n)
}

// Mute lets nothing be recorded of whatever counts there.
func (a *Area) Mute() { a.put(offMuted, 1) }

// Pend says what counters of a goroutine that is stopped in loops lack of what it has
// executed there: it may be left before they have it. What they hold may begin
// anywhere, so it is the difference of what they are worth.
func (a *Area) Pend(cs Clocks, lack []record.Delta) {
	sum := int64(0)
	for _, d := range lack {
		n := a.get(a.l.counters + 8*uint64(d.Counter))
		sum += cs.worth(d.Counter, n+d.N) - cs.worth(d.Counter, n)
	}
	a.put(offPending, uint64(sum))
}

// Where the waits that are hushed lie, and how many can be: behind the pool in what
// the areas have in common.
const (
	hushed = 8 * (waitSlots + PoolSize)
	hushes = 64
	heard  = hushed + 8*hushes
)

// Listen lets so many waits be recorded until a thread stops as if its ring were full.
func (c *Common) Listen(n uint64) { atomic.StoreUint64(c.word(c.l.Waits()+heard), n) }

// Hush lets nothing be recorded any more of waits that return to an address, nor of who
// wakes only such. Where another one has the place the other one stays.
func (c *Common) Hush(ret uint64) {
	if at := c.l.Waits() + hushed + 8*(ret%hushes); c.get(at) == 0 {
		atomic.StoreUint64(c.word(at), ret)
	}
}
