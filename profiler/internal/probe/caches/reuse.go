package caches

import "github.com/skewlens/skewlens/profiler/internal/cachesim"

// Instead of one machine's caches the simulator can tell how far back accesses come
// (target/reuse.h has how): in how many of the caches of 64 sets, of which the sizes
// double, a thread's access misses, and in how many that all threads share, behind a
// first level of each thread's, which is Filter.

// Sizes are the bytes of the caches that are told apart.
var Sizes = func() (list [12]int64) {
	for i := range list {
		list[i] = 16 << 10 << i
	}
	return list
}()

// Filter is what moved code asks before it calls: of 64 sets, the line that was used
// last. To access that again changes nothing in a cache of as many sets or a multiple.
var Filter = cachesim.Machine{Name: "filter", Line: 64, L1: cachesim.Geometry{Size: 64 * 64, Ways: 1}}

// Classes of accesses: below Beyond is how many of the sizes are too small.
const (
	Beyond    = 12 + iota
	First     // nobody, of those who share, has touched the line before
	Lost      // a thread's: it was here, but another one wrote it
	FromOther // a thread's first, of a line that another one has touched
)

// reuse says where the lists lie, from the beginning.
type reuse struct{ at, nodes, heads, lists, many, ops uint64 }

const (
	nodeSize   = 32
	listSize   = 64
	reuseHeads = 64 << 14
	reuseNodes = 1 << 23 // lines, of each thread and of all
)

// WithReuse tells for so many accesses how far back they come, instead of simulating
// the machine, which is Filter. What all threads make of them together is counted
// behind what each makes of them.
func (l Layout) WithReuse(ops int) Layout {
	at := l.size
	place := func(size uint64) uint64 {
		from := at
		at += (size + 4095) &^ 4095
		return from
	}
	l.reuse = reuse{at: place(64), heads: place(4 * reuseHeads), lists: place(listSize * 64 * (Cores + 1)), nodes: place(nodeSize * reuseNodes), many: reuseNodes, ops: uint64(ops)}
	l.size = at
	return l
}

func (l *Layout) reuseAt(base uint64) uint64 {
	if l.reuse.at == 0 {
		return 0
	}
	return base + l.reuse.at
}

// openReuse says where everything is.
func (h *Hierarchy) openReuse() {
	if r := &h.reuse; r.at != 0 {
		for i, v := range []uint64{0, r.many, r.ops, h.base + r.nodes, h.base + r.heads, h.base + r.lists} {
			h.put(r.at+8*uint64(i), v)
		}
	}
}
