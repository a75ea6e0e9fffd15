package threadarea

import "encoding/binary"

// A thread's part of simulated caches, as hierarchy.c of package caches has it:
// its core, where its misses are counted and which bits say so, whether it is on
// its way there, which call of a library it makes; then, in sets of the first level, which lines were used last, a
// set in as many bytes as a line has.
const (
	cachesCore   = 0
	cachesMisses = 8
	cachesLive   = 16
	cachesFirst  = 24
	cachesCaller = 40
	cachesHeader = 64
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
	a.put(OffCaches, a.base+l.caches)
	return a.base + uint64(l.Front())
}

// FrontMemory is the profiler's view of it.
func (a *Area) FrontMemory() []byte { return a.mem[a.l.Front():a.l.size] }
