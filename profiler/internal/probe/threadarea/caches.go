package threadarea

import (
	"encoding/binary"
	"sync/atomic"
)

// A thread's part of simulated caches, as hierarchy.c of package caches has it:
// its core, where its misses are counted and which bits say so, whether it is on
// its way there, which call of a library it makes, and where accesses are told instead,
// how many were counted, and how many when its own were, or else which eights of misses
// have changed since the last record; then, in sets of the first level, which lines were used last, a
// set in as many bytes as a line has.
const (
	cachesCore    = 0
	cachesMisses  = 8
	cachesLive    = 16
	cachesFirst   = 24
	cachesInside  = 32
	cachesCaller  = 40
	cachesDone    = 48
	cachesChanged = cachesDone
	cachesTold    = 56
	cachesHeader  = 64
)

// nobody is caches.Nobody, who has called a library before the thread does.
const nobody = 1<<32 - 1

// WithCaches is the layout with room for a first level of so many bytes in each way.
func (l Layout) WithCaches(way uint64) Layout {
	l.caches = l.size
	l.size = (l.caches + cachesHeader + way + pageMask) &^ pageMask
	return l
}

// Front is where the lines that were used last lie, from GS.
func (l Layout) Front() uint32 { return uint32(l.caches + cachesHeader) }

// CallerBelow is how far below Front, 32 bits, the call of a library stands that the
// thread makes: the number of its first access, for what that accesses is the call's.
const CallerBelow = cachesHeader - cachesCaller

// SetCore has the thread simulate what it accesses, on a core whose state lies at
// an address in the target. It returns where its Front lies there.
func (a *Area) SetCore(core uint64) (front uint64) {
	l := a.l
	clear(a.mem[l.caches:l.size])
	put := func(off, v uint64) { binary.LittleEndian.PutUint64(a.mem[l.caches+off:], v) }
	put(cachesCore, core)
	put(cachesMisses, a.base+l.counters+8*uint64(l.Misses()))
	put(cachesLive, a.common.base+l.live)
	put(cachesFirst, uint64(l.Misses()/8))
	put(cachesCaller, nobody)
	put(cachesChanged, a.base+l.live) // of its own, which says nothing else
	a.put(offChanged, l.live|uint64(l.Misses()/8+63)/64<<32)
	a.put(OffCaches, a.base+l.caches)
	return a.base + uint64(l.Front())
}

// FrontMemory is the profiler's view of it.
func (a *Area) FrontMemory() []byte { return a.mem[a.l.Front():a.l.size] }

// Simulates reports whether the thread is on its way in the simulator: it may sleep there, until
// another one has given a lock back, as if it had no processor meanwhile.
func (a *Area) Simulates() bool {
	return a.l.caches != 0 && atomic.LoadUint64(a.word(a.l.caches+cachesInside)) != 0
}

// Tells has the thread make no record before the accesses are counted that it has told
// of: how many were lies at an address in the target.
func (a *Area) Tells(done uint64) {
	binary.LittleEndian.PutUint64(a.mem[a.l.caches+cachesDone:], done)
	a.put(offChanged, noChanged<<32)
}

// Told is how many accesses must have been counted for all of the thread's to be.
func (a *Area) Told() uint64 { return atomic.LoadUint64(a.word(a.l.caches + cachesTold)) }

// Missed counts a miss of one of the classes of an access, which the thread has told of.
func (a *Area) Missed(op, class int) {
	n := uint64(a.l.Misses() + MissClasses*op + class)
	atomic.AddUint64(a.word(a.l.counters+8*n), 1)
	atomic.OrUint64(a.live.word(a.l.live+8*(n/512)), 1<<(n/8%64))
}
