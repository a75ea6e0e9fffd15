package section

import (
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A pool may turn out to be none. Its rounds have ended parts, and what threads did
// in them would be nowhere then: their join would miss most of their work. So it is
// kept for some rounds what ends at them.

// undone is what a thread's part would be if the pool had not ended any.
type undone struct {
	acc      []record.Delta
	waits    []wait
	begin    profile.Addr
	beginTSC uint64
	cpu      int64
	cuts     int // the thread's, when the pool ended its last part
	rounds   int
}

const mostUndone = 256 // rounds

// ends notes that a pool is about to end a thread's part, of which so much is over.
func (h *hand) ends(x *thread, over []record.Delta) {
	u := h.undone
	if u == nil || u.cuts != x.cuts { // who met others since began anew
		u = &undone{begin: x.begin, beginTSC: x.beginTSC, cpu: x.cpu}
		h.undone = u
	}
	if u.rounds++; u.rounds > mostUndone {
		u.acc, u.waits = nil, nil
	} else {
		u.acc, u.waits = record.Add(u.acc, over), append(slices.Clip(u.waits), x.waits...)
	}
	u.cuts = x.cuts + 1
}

// takeBack gives a thread back what the pool has ended.
func (h *hand) takeBack(x *thread) {
	u := h.undone
	h.undone = nil
	if u == nil || u.cuts != x.cuts || u.rounds > mostUndone {
		return
	}
	x.acc, x.waits = record.Add(u.acc, x.acc), append(u.waits, x.waits...)
	x.begin, x.beginTSC, x.cpu = u.begin, u.beginTSC, u.cpu
	x.cuts++
}
