package native

import (
	"fmt"
	"sync"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/cachesim"
	"github.com/skewlens/skewlens/profiler/internal/probe/caches"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// told simulates a machine's caches beside the program, from the accesses that its threads
// tell of, in the order in which they do. What misses is counted in the areas of those who
// made them, who wait for that where they make a record.
type told struct {
	*caches.Telling
	stop, stopped chan struct{}

	mu       sync.Mutex
	system   *cachesim.System
	areas    [cachesim.MaxCores]*threadarea.Area // nil: nobody has the core
	partners map[uint32]*partner
	made     map[uint32]uint64 // accesses, where tests ask
	skipped  int               // accesses that were never told: who was about to had ended
}

// partner is whose writes take lines away from an access: of the votes of Boyer and Moore
// the access that has most, and the core that made all of them; −1: several.
type partner struct {
	op    uint32
	votes int
	core  int
}

// tellsAll reports whether a job's caches are to be simulated beside the program.
func tellsAll(j *backend.Job) bool {
	return j.Machine != nil && !j.Reuse && (j.Machine.Line > 64 || j.Cores > caches.Cores || j.Testing.Tells)
}

// tellingSets are those of the front that moved code asks: it stays empty.
const tellingSets = 64

func newTold(j *backend.Job, t *caches.Telling) *told {
	x := &told{Telling: t, system: cachesim.New(*j.Machine, cachesim.MaxCores), partners: map[uint32]*partner{}, stop: make(chan struct{}), stopped: make(chan struct{})}
	if j.Testing.Accessed != nil {
		x.made = map[uint32]uint64{}
	}
	go x.follow()
	return x
}

// follow counts what is told until it is to stop.
func (x *told) follow() {
	defer close(x.stopped)
	const some, least, most = 1 << 12, 10 * time.Microsecond, time.Millisecond
	for pause := least; ; {
		if x.take(some) > 0 {
			pause = least
			continue
		}
		select {
		case <-x.stop:
			return
		case <-time.After(pause):
			pause = min(2*pause, most)
		}
	}
}

func (x *told) take(most int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Take(most, x.count)
}

func (x *told) count(a caches.Told) {
	o := x.system.Access(a.Core, a.Addr, a.Size, a.Write, a.Op)
	area := x.areas[a.Core]
	if a.Op == caches.Nobody || area == nil {
		return
	}
	if x.made != nil {
		x.made[a.Op]++
	}
	if class, missed := o.Class(); missed {
		area.Missed(int(a.Op), int(class))
		if o.Kind >= cachesim.True {
			x.blame(a.Op, o.Partner)
		}
	}
	if o.Upgrade {
		area.Missed(int(a.Op), int(cachesim.Upgrade))
	}
}

func (x *told) blame(op uint32, by cachesim.Partner) {
	p := x.partners[op]
	switch {
	case p == nil:
		x.partners[op] = &partner{by.Op, 1, by.Core}
		return
	case p.op == by.Op:
		p.votes++
	case p.votes > 0:
		p.votes--
	default:
		p.op, p.votes = by.Op, 1
	}
	if p.core != by.Core {
		p.core = -1
	}
}

// join gives a core to a thread.
func (x *told) join(core int, t *thread) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t.area.SetCore(x.Core(core))
	t.area.Tells(x.Done())
	x.areas[core] = t.area
}

// leave waits until all is counted that a thread has told of, which has ended. Where
// somebody ended in the midst of telling, nothing gets on: then that access is passed over.
func (x *told) leave(core int, t *thread) {
	const patience = 200 * time.Millisecond
	last, since := x.Counted(), time.Now()
	for x.Counted() < t.area.Told() {
		if x.take(1<<12) > 0 {
			continue
		}
		if n := x.Counted(); n != last {
			last, since = n, time.Now()
		} else if time.Since(since) > patience {
			x.mu.Lock()
			x.Skip()
			x.skipped++
			x.mu.Unlock()
		}
		time.Sleep(10 * time.Microsecond)
	}
	x.mu.Lock()
	x.areas[core] = nil
	x.mu.Unlock()
}

// partner is solve.Simulation.Partner.
func (x *told) partner(op int, threads []*thread) (by int, writer profile.ThreadID, ok bool) {
	p := x.partners[uint32(op)]
	if p == nil || p.op >= caches.Erased {
		return 0, 0, false
	}
	for _, t := range threads {
		if p.core >= 0 && t.slot-1 == p.core {
			if writer != 0 {
				return int(p.op), 0, true // several, one after the other
			}
			writer = t.id + 1
		}
	}
	return int(p.op), writer, true
}

func (x *told) close() {
	close(x.stop)
	<-x.stopped
}

func (x *told) doubts() (list []profile.Warning) {
	list = append(list, profile.Warning{Code: "told", Message: "the caches were simulated beside the program, since it cannot simulate such a machine itself (lines beyond 64 bytes, more than 64 cores): it took many times as long, and threads met in another order than they would"})
	if x.skipped > 0 {
		list = append(list, profile.Warning{Code: "caches", Message: fmt.Sprintf("%d accesses of threads that ended meanwhile were not told: misses may differ by as many", x.skipped)})
	}
	return list
}
