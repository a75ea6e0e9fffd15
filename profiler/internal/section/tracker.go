package section

import (
	"container/heap"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Tracker is the state of all threads and open meetings.
type Tracker struct {
	c       Config
	threads map[profile.ThreadID]*thread
	queue   streams
	epochs  map[uint64]*epoch // by barrier or condition variable
	counts  map[uint64]int    // of barriers, where their initialisation was seen
	out     *collector
	// Instances is how many have been completed.
	Instances int
}

// thread is one thread as seen in the order of time.
type thread struct {
	id        profile.ThreadID
	parent    *thread
	stream    *stream
	alive     bool
	joining   bool // waits for another thread to end
	start     profile.Addr
	nextStart profile.Addr // of the thread it is about to create

	acc      []record.Delta // since it last began
	begin    profile.Addr
	beginTSC uint64
	cpu      int64 // its CPU clock when it began; −1: unknown
	clock    int64 // at its last record; −1: unknown
	last     uint64

	met   map[profile.ThreadID]bool // threads it shared a barrier with
	group *group                    // workers that it has created and not yet joined
	of    *group                    // the group that it belongs to
}

// arrival is a thread at the end of its part.
type arrival struct {
	t        *thread
	tsc      uint64
	site     profile.Addr
	delta    []record.Delta
	begin    profile.Addr
	beginTSC uint64
	busyNS   int64
	timed    bool
	cpu      int64 // the CPU clock, −1: unknown
}

// New makes a tracker.
func New(c Config) *Tracker {
	return &Tracker{c: c, threads: map[profile.ThreadID]*thread{}, epochs: map[uint64]*epoch{}, counts: map[uint64]int{}, out: newCollector(c)}
}

// Born announces a thread; parent is −1 for the first.
func (t *Tracker) Born(id, parent profile.ThreadID, tsc uint64) {
	x := &thread{id: id, alive: true, beginTSC: tsc, last: tsc, met: map[profile.ThreadID]bool{}}
	if parent < 0 { // it has run the loader before; its first reading will tell
		x.cpu, x.clock = -1, -1
	}
	x.stream = &stream{owner: x}
	t.threads[id] = x
	t.queue.add(x.stream, item{tsc: tsc, born: true})
	if p := t.threads[parent]; p != nil {
		x.parent = p
	}
}

// Record appends a thread's next record; its Delta is resolved, its Site and
// Arg3 are link-time addresses (of the call; 0 outside the program).
func (t *Tracker) Record(id profile.ThreadID, r record.Record) {
	t.queue.add(t.threads[id].stream, item{tsc: r.TSC, rec: r})
}

// Died announces a thread's end, with what it counted since its last record.
func (t *Tracker) Died(id profile.ThreadID, tsc uint64, cpuNS int64, rest []record.Delta) {
	t.queue.add(t.threads[id].stream, item{tsc: tsc, died: true, rec: record.Record{TSC: tsc, CPUNS: cpuNS, Delta: rest}})
}

// Advance handles everything before a moment. Every thread's records up to
// there must have been given.
func (t *Tracker) Advance(horizon uint64) {
	for len(t.queue) > 0 && t.queue[0].items[0].tsc <= horizon {
		s := t.queue[0]
		x := s.items[0]
		s.items = s.items[1:]
		if len(s.items) == 0 {
			heap.Pop(&t.queue)
		} else {
			heap.Fix(&t.queue, 0)
		}
		t.handle(s.owner, x)
	}
}

// Start returns the function that a thread began in, 0 when unknown.
func (t *Tracker) Start(id profile.ThreadID) profile.Addr { return t.threads[id].start }

func (t *Tracker) handle(x *thread, i item) {
	switch {
	case i.born:
		t.born(x)
		return
	case i.died:
		t.tick(x, i.rec)
		x.acc = record.Add(x.acc, i.rec.Delta)
		t.died(x, t.arrive(x, i.rec))
		return
	}
	x.joining = false
	t.tick(x, i.rec)
	x.acc = record.Add(x.acc, i.rec.Delta)
	switch i.rec.Kind {
	case barrierInit:
		t.counts[i.rec.Arg1] = int(i.rec.Arg3)
		delete(t.epochs, i.rec.Arg1)
	case barrierWait:
		t.barrier(x, i.rec)
	case barrierLeft:
		x.left(i.rec)
	case condWait:
		t.condWait(x, i.rec)
	case condBroadcast:
		t.condBroadcast(x, i.rec)
	case create:
		x.nextStart = profile.Addr(i.rec.Arg3)
		x.restart(profile.Addr(i.rec.Site), i.rec.TSC)
		x.createsWorker()
	case join:
		t.join(x, i.rec)
	}
}

// arrive describes the part that ends with a record.
func (t *Tracker) arrive(x *thread, r record.Record) arrival {
	a := arrival{t: x, tsc: r.TSC, site: profile.Addr(r.Site), delta: x.acc, begin: x.begin, beginTSC: x.beginTSC, cpu: x.clock}
	if x.cpu >= 0 && x.clock >= 0 {
		a.busyNS, a.timed = max(0, x.clock-x.cpu), true
	}
	return a
}

// tick sets a thread's CPU clock at a record. Where it was not read, the last
// record was so short ago that the thread cannot have been off its core.
func (t *Tracker) tick(x *thread, r record.Record) {
	if r.CPUNS > 0 {
		x.clock = r.CPUNS
	} else if x.clock >= 0 {
		x.clock += int64(float64(r.TSC-x.last) * t.c.NSPerTick)
	}
	x.last = r.TSC
}

// left begins the next part when a barrier returns.
func (x *thread) left(r record.Record) {
	x.cpu, x.beginTSC, x.acc = x.clock, r.TSC, nil
}

// restart begins a part anew: what was done before belongs to no section.
func (x *thread) restart(site profile.Addr, tsc uint64) {
	x.acc, x.begin, x.beginTSC, x.cpu = nil, site, tsc, x.clock
}

// cut ends a thread's part at an arrival and begins the next one.
func (x *thread) cut(a arrival, tsc uint64) {
	x.acc = record.Sub(x.acc, a.delta)
	x.begin, x.beginTSC, x.cpu = a.site, max(a.tsc, tsc), a.cpu
}

// streams is a heap of the threads' queues, by the time of their first item.
type streams []*stream

type stream struct {
	owner *thread
	items []item
	pos   int
}

type item struct {
	tsc        uint64
	rec        record.Record
	born, died bool
}

func (q streams) Len() int { return len(q) }
func (q streams) Less(i, j int) bool {
	a, b := &q[i].items[0], &q[j].items[0]
	if a.tsc != b.tsc {
		return a.tsc < b.tsc
	}
	return q[i].owner.id < q[j].owner.id
}
func (q streams) Swap(i, j int) { q[i], q[j] = q[j], q[i]; q[i].pos, q[j].pos = i, j }
func (q *streams) Push(x any)   { s := x.(*stream); s.pos = len(*q); *q = append(*q, s) }
func (q *streams) Pop() any {
	old := *q
	s := old[len(old)-1]
	*q = old[:len(old)-1]
	return s
}

func (q *streams) add(s *stream, i item) {
	s.items = append(s.items, i)
	if len(s.items) == 1 {
		heap.Push(q, s)
	}
}
