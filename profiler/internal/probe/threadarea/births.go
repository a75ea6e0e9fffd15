package threadarea

import (
	"sync/atomic"
)

// Threads that nobody traces take their areas themselves, from a pool of areas
// that are ready, and say in them how they are (guard.S in package blocking):
//
//	ready ──a thread takes it for one that it creates──▶ Taken ──it runs──▶ Runs ──its end──▶ Ended
//	  ▲                                                                                         │
//	  └──────────────────── the profiler reads what it left, and makes it ready ────────────────┘

// State is how far the thread of an area from the pool is.
type State uint64

const (
	Ready State = iota // also while it is being taken
	Taken              // its thread is being made
	Runs
	Ended // its thread will not touch it any more
)

// What a thread has to do before system calls that the profiler must know of.
const (
	Free    = 0 // nothing
	Guarded = 1 // say so, where others than itself are concerned
	Alone   = 3 // say so, and ask to be traced: nobody does
	Traced  = 4 // say so where system calls are to be forbidden, or another program is to take the place
	Mute    = 8 // nothing: what it would say it by may be forbidden
)

// PoolSize is how many areas can be ready.
const PoolSize = 192

// Born is what an area says about its thread's life.
type Born struct {
	Tid        int
	Begin, End uint64 // time stamps
	CPUNS      int64  // at its end
	Parent     uint64 // the Self of who created it
}

// SetGuard says what the thread has to do from now on.
func (a *Area) SetGuard(v uint64) { atomic.StoreUint64(a.word(offGuard), v) }

// Guard is what it has to do.
func (a *Area) Guard() uint64 { return atomic.LoadUint64(a.word(offGuard)) }

// Silence has the thread read its CPU clock no more.
func (a *Area) Silence() { atomic.StoreUint64(a.word(offCPUGap), Never) }

// Never is a gap between readings of a CPU clock that is none: it is not read.
const Never = 1 << 62

// Introduce gives the thread a number of its own, by which it says that it is
// another one's creator; ask is the code by which it asks to be traced.
func (a *Area) Introduce(self, ask uint64) {
	a.put(offSelf, self)
	a.put(offAsk, ask)
	a.put(offPool, a.common.base+a.l.Pool())
}

// State is how far the thread is.
func (a *Area) State() State { return State(atomic.LoadUint64(a.word(offState))) }

// Life is what a thread that at least runs has said.
func (a *Area) Life() Born {
	return Born{Tid: int(a.get(offTid)), Begin: a.get(offBorn), End: a.get(offEnded), Parent: a.get(offParent),
		CPUNS: int64(a.get(offCPU))*1e9 + int64(a.get(offCPU+8))}
}

// Asked is what the thread asks for, 0 for nothing; it waits until that is 0.
func (a *Area) Asked() uint64 { return atomic.LoadUint64(a.word(offAsked)) }

// Answer takes the question back.
func (a *Area) Answer() { atomic.StoreUint64(a.word(offAsked), 0) }

// AskedAt is where in an area the question lies.
func (a *Area) AskedAt() *uint32 { return a.half(offAsked) }

// Base is where the area lies in the target.
func (a *Area) Base() uint64 { return a.base }

// Pool is where the addresses of the areas that are ready lie in the common
// area: words, 0 where one was taken.
func (l Layout) Pool() uint64 { return l.ring + 8*waitSlots }

// waitSlots is how many words the table of waits has, which lies before.
const waitSlots = 4096

// Offer puts an area into a place of the pool.
func (c *Common) Offer(place int, a *Area) {
	atomic.StoreUint64(c.word(c.l.Pool()+8*uint64(place)), a.base)
}

// Offered reports whether a place's area is still to be taken.
func (c *Common) Offered(place int) bool {
	return atomic.LoadUint64(c.word(c.l.Pool()+8*uint64(place))) != 0
}

// Withdraw takes an area back; false: a thread was faster.
func (c *Common) Withdraw(place int) bool {
	return atomic.SwapUint64(c.word(c.l.Pool()+8*uint64(place)), 0) != 0
}
