package threadarea

import "sync/atomic"

// Offsets in the table of clocks, and in an entry of it; look.S has the same.
const (
	clockBound   = 0
	clockUsed    = 8
	clockQuantum = 16
	clockAsked   = 24
	clockFree    = 28
	clockEnters  = 32
	clockEntries = 64

	entryClock  = 0
	entryHeld   = 8
	entryActive = 12
	entryLooks  = 16
	entryAway   = 24
	entryUntil  = 32
	entrySlept  = 40
	entryWoke   = 48
	entryRests  = 56
	entrySize   = 64

	// MaxClocks is how many threads can have one at a time.
	MaxClocks = 4096
	worthSize = 16
)

// WithClocks is the layout with room for the clocks of virtual cores, in the
// memory that all threads share.
func (l Layout) WithClocks() Layout {
	l.clocks = l.size
	l.worths = l.clocks + clockEntries + entrySize*MaxClocks
	l.size = (l.worths + worthSize*uint64(l.Fixed()+8) + pageMask) &^ pageMask
	return l
}

// Clocks is the table of clocks.
type Clocks struct{ common *Common }

// Clocks prepares it; nobody has one yet.
func (c *Common) Clocks(quantum int64) Clocks {
	c.put(c.l.clocks+clockQuantum, uint64(quantum))
	return Clocks{c}
}

// SetWorth says how many instructions a chord's counter stands for: n/step
// times worth of them when it is n, which step divides.
func (cs Clocks) SetWorth(counter int32, worth, step int64) {
	shift := 0
	for ; step&1 == 0; step >>= 1 {
		shift++
	}
	inverse := step // of an odd number modulo 2⁶⁴, by Newton: each round doubles its right bits, from three
	for range 5 {
		inverse *= 2 - step*inverse
	}
	at := cs.common.l.worths + worthSize*uint64(counter)
	atomic.StoreUint32(cs.common.half(at+8), uint32(shift)) // the mark of recorder.S is behind it
	atomic.StoreUint64(cs.common.word(at), uint64(worth*inverse))
}

// worth is what a counter that is n is worth, as look.S has it.
func (cs Clocks) worth(counter int32, n uint64) int64 {
	at := cs.common.l.worths + worthSize*uint64(counter)
	shift := atomic.LoadUint32(cs.common.half(at + 8))
	return int64(n) >> (shift & 63) * int64(atomic.LoadUint64(cs.common.word(at)))
}

// Enters is how often a thread has entered a function for the first time.
func (cs Clocks) Enters() uint32 {
	return atomic.LoadUint32(cs.common.half(cs.common.l.clocks + clockEnters))
}

// LiveFrom reports whether the counters of a function, from its first to behind
// its last chord, may be in use: goroutines say so where they first enter it, each
// for itself.
func (cs Clocks) LiveFrom(first, after int32) bool {
	if first < after && atomic.LoadUint32(cs.common.half(cs.common.l.worths+worthSize*uint64(first)+12)) != 0 {
		return true
	}
	for i := uint64(first) / 8; i*8 < uint64(after); i++ {
		if atomic.LoadUint64(cs.common.word(cs.common.l.live+i/64*8))>>(i%64)&1 != 0 {
			return true
		}
	}
	return false
}

// Bound is the virtual time up to which threads go on.
func (cs Clocks) Bound() int64 {
	return int64(atomic.LoadUint64(cs.common.word(cs.common.l.clocks + clockBound)))
}

// SetBound sets it.
func (cs Clocks) SetBound(v int64) {
	atomic.StoreUint64(cs.common.word(cs.common.l.clocks+clockBound), uint64(v))
}

// SetFree says whether threads go on however far they are.
func (cs Clocks) SetFree(is bool) { setHalf(cs.common.half(cs.common.l.clocks+clockFree), is) }

func setHalf(p *uint32, is bool) {
	v := uint32(0)
	if is {
		v = 1
	}
	atomic.StoreUint32(p, v)
}

// Use says how many entries are looked at.
func (cs Clocks) Use(n int) {
	atomic.StoreUint64(cs.common.word(cs.common.l.clocks+clockUsed), uint64(n))
}

// Asked is the word that is not 0 while a thread waits to be looked at.
func (cs Clocks) Asked() *uint32 { return cs.common.half(cs.common.l.clocks + clockAsked) }

// Entry is one thread's clock.
type Entry struct {
	common *Common
	at     uint64
}

// Entry is the i-th.
func (cs Clocks) Entry(i int) Entry {
	return Entry{cs.common, cs.common.l.clocks + clockEntries + entrySize*uint64(i)}
}

// Clock is the thread's virtual time as of its last look.
func (e Entry) Clock() int64 { return int64(atomic.LoadUint64(e.common.word(e.at + entryClock))) }

// SetClock sets it, of a thread that has not looked yet.
func (e Entry) SetClock(v int64) {
	atomic.StoreUint64(e.common.word(e.at+entrySlept), 0)
	atomic.StoreUint64(e.common.word(e.at+entryClock), uint64(v))
}

// Forward puts it forward to a time, if it is not there yet, of a thread that may run
// beside: what that has done since its last look is done from then on.
func (e Entry) Forward(v int64) {
	clock := e.common.word(e.at + entryClock)
	was := atomic.LoadUint64(clock)
	if int64(was) >= v {
		return
	}
	atomic.AddUint64(e.common.word(e.at+entrySlept), uint64(v)-was)
	atomic.CompareAndSwapUint64(clock, was, uint64(v)) // else it has looked, and knows
}

// Away is the time that passed since, where the thread says nothing.
func (e Entry) Away() int64 { return int64(atomic.LoadUint64(e.common.word(e.at + entryAway))) }

// SetAway sets it; the thread's next look ends it.
func (e Entry) SetAway(v int64) { atomic.StoreUint64(e.common.word(e.at+entryAway), uint64(v)) }

// Woke is how far the thread was when others may last have woken by what it did, if that
// is since this was last asked; else 0.
func (e Entry) Woke() int64 { return int64(atomic.SwapUint64(e.common.word(e.at+entryWoke), 0)) }

// Looks is how often it has looked.
func (e Entry) Looks() uint64 { return atomic.LoadUint64(e.common.word(e.at + entryLooks)) }

// Held reports whether it waits.
func (e Entry) Held() bool { return atomic.LoadUint32(e.common.half(e.at+entryHeld)) != 0 }

// What a thread waits for that is held.
const (
	forBound = 1
	forLook  = 2
)

// Asks reports whether it waits for the machine to look.
func (e Entry) Asks() bool { return atomic.LoadUint32(e.common.half(e.at+entryHeld)) == forLook }

// Answer has a thread wait for the bound that waited for the machine to look.
func (e Entry) Answer() {
	atomic.CompareAndSwapUint32(e.common.half(e.at+entryHeld), forLook, forBound)
}

// Until is, of a thread that is held, the bound from which on it goes on.
func (e Entry) Until() int64 { return int64(atomic.LoadUint64(e.common.word(e.at + entryUntil))) }

// SetActive says whether the others wait for it.
func (e Entry) SetActive(is bool) { setHalf(e.common.half(e.at+entryActive), is) }

// Active reports whether they do: it does not sleep, nor spin.
func (e Entry) Active() bool { return atomic.LoadUint32(e.common.half(e.at+entryActive)) == 1 }

// Rests reports whether the thread waits in a runtime that may spin.
func (e Entry) Rests() bool { return atomic.LoadUint32(e.common.half(e.at+entryRests)) != 0 }

// Spins says that it does: nobody waits for it until it works.
func (e Entry) Spins() { atomic.CompareAndSwapUint32(e.common.half(e.at+entryActive), 1, 2) }

// Release lets the thread go on, if it waits; wake wakes who waits for a word.
func (e Entry) Release(wake func(*uint32)) {
	if held := e.common.half(e.at + entryHeld); atomic.SwapUint32(held, 0) != 0 {
		wake(held)
	}
}

// Join gives a new thread's area an entry; its clock is set before.
func (a *Area) Join(cs Clocks, e Entry) {
	a.put(offBase, uint64(e.Clock()))
	a.put(offEntry, cs.common.base+e.at)
	a.Follow(cs)
}

// Follow lets an area look by the clocks of others: a goroutine's, whose thread's
// entry it gets whenever one goes on with it.
func (a *Area) Follow(cs Clocks) {
	a.put(offTable, cs.common.base+cs.common.l.clocks)
	a.put(offWorths, cs.common.base+cs.common.l.worths)
	a.put(offGiven, 1)
	a.put(offLast, 1<<63)
	a.LookSoon()
}

// SetAlone says that a thread is the only one with a clock: then it does not look, as
// there is nobody whom it could be ahead of, nor tells what locks it holds. Meet ends that.
func (a *Area) SetAlone() {
	setHalf(a.half(OffAlone), true)
	setHalf(a.half(OffLocks), false)
}

// Meet sets the clock of a thread that was alone to its time, as look.S adds it up, or
// to the time that it is already, if that is later; from now on it looks.
func (a *Area) Meet(cs Clocks, e Entry, now int64) {
	own := int64(0)
	for _, d := range a.All() {
		if d.Counter < int32(a.l.Chords) {
			own += cs.worth(d.Counter, d.N)
		}
	}
	now = max(now, e.Clock())
	if own >= int64(a.get(offOwn)) { // else it is in a loop that a register counts for
		now = max(now, own+int64(a.get(offBase)))
		a.put(offOwn, uint64(own))
		a.put(offBase, uint64(now-own))
	}
	e.SetClock(now)
	e.SetAway(0)
	setHalf(a.half(OffAlone), false)
	a.LookSoon()
}

// StayApart leaves a thread without a clock: it never looks.
func (a *Area) StayApart() { atomic.StoreUint32(a.half(OffFuel), 1<<31-1) }

// LookSoon makes a thread look when it comes to the next place.
func (a *Area) LookSoon() { atomic.StoreUint32(a.half(OffFuel), ^uint32(999)) }
