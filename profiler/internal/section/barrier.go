package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// barrierRule: an instance is complete when as many have arrived as the
// barrier counts.
type barrierRule struct {
	t      *Tracker
	counts map[uint64]int // by barrier, where its initialisation was seen
}

func barriers(t *Tracker) rule {
	b := &barrierRule{t, map[uint64]int{}}
	return rule{calls: []call{
		{names: []string{"pthread_barrier_init"}, arrive: b.init},
		{names: []string{"pthread_barrier_wait"}, arrive: b.wait, leave: left, meets: true, quiet: true},
	}}
}

func (b *barrierRule) init(_ *thread, r record.Record) {
	b.counts[r.Arg1] = int(r.Arg3)
	delete(b.t.epochs, r.Arg1)
}

// wait: where the barrier's initialisation was not seen, the first thread that
// comes again shows that the meeting before was complete.
func (b *barrierRule) wait(x *thread, r record.Record) {
	e := b.t.epochOf(r.Arg1)
	n := b.counts[r.Arg1]
	if n == 0 && e.has(x) {
		b.complete(e)
	}
	e.comes(b.t.meets(x, r))
	// The part ends here, whenever the others come.
	x.cut(e.arrivals[len(e.arrivals)-1], r.TSC)
	if n > 0 && len(e.arrivals) >= n {
		b.complete(e)
	}
}

// complete keeps the room of the arrivals for the next ones.
func (b *barrierRule) complete(e *epoch) {
	room := e.arrivals
	b.t.complete(profile.Barrier, e)
	clear(room)
	e.arrivals = room[:0]
}

// left begins the next part when a barrier returns.
func left(x *thread, r record.Record) {
	x.cpu, x.beginTSC, x.acc, x.waits = x.clock, r.TSC, nil, nil
	x.cuts++
}
