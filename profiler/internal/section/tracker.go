package section

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Tracker is the state of all threads and meetings under way.
type Tracker struct {
	c          Config
	rules      []rule
	handlers   []handler                    // by kind of record
	threads    map[profile.ThreadID]*thread // but those that nobody asks for any more
	departed   []departed                   // of goroutines these, by id
	gone       departedThreads              // of threads
	queue      streams
	epochs     map[uint64]*epoch // by object: barrier, condition variable
	words      words
	out        *collector
	pools      *poolRule
	joins      *joinRule
	gates      *gateRule
	goes       *goRule
	conditions conditionRule
	locks      *goLocks
	teams      *teamRule
	mpi        *mpiRule
	meetings   int // so far
	// Instances is how many have been completed.
	Instances int
}

// New makes a tracker.
func New(c Config) *Tracker {
	c.Line = remembered(c.Line)
	t := &Tracker{c: c, threads: map[profile.ThreadID]*thread{}, epochs: map[uint64]*epoch{}, words: words{}, out: newCollector(c)}
	t.rules = makeRules(t)
	t.handlers = handlers(t.rules)
	return t
}

// remembered is a function of addresses that asks another one once for each: to find a
// line takes longer than all else about a thread that was joined.
func remembered(ask func(profile.Addr) string) func(profile.Addr) string {
	known := map[profile.Addr]string{}
	return func(a profile.Addr) string {
		x, ok := known[a]
		if !ok {
			x = ask(a)
			known[a] = x
		}
		return x
	}
}

// Born announces a thread; parent is −1 for the first.
func (t *Tracker) Born(id, parent profile.ThreadID, tsc uint64) {
	x := newThread(id, t.threads[parent], tsc)
	x.maker = parent
	if parent < 0 && !t.c.Goroutines { // it has run the loader before; its first reading will tell
		x.cpu, x.clock = -1, -1
	}
	t.threads[id] = x
	t.queue.add(x.stream, &item{tsc: tsc, born: true})
}

// Handle tells by what others join a thread that was just born: its pthread_t.
func (t *Tracker) Handle(id profile.ThreadID, pthread uint64) { t.threads[id].handle = pthread }

// Made says where the go statement stands that made a goroutine: the call; the runtime's
// number of it; and whether it takes turns with the one that made it, as iter.Pull has it.
func (t *Tracker) Made(id profile.ThreadID, goid uint64, at, start profile.Addr, coroutine bool) {
	x := t.threads[id]
	x.goid, x.goAt, x.start, x.begin, x.coroutine = goid, at, start, start, coroutine
}

// Record appends a thread's next record; its Delta is resolved, its Site and
// Arg3 are link-time addresses (of the call; 0 outside the program).
func (t *Tracker) Record(id profile.ThreadID, r record.Record) {
	t.queue.add(t.threads[id].stream, &item{tsc: r.TSC, rec: r})
}

// Died announces a thread's end, with what it counted since its last record, and
// the instructions of its life.
func (t *Tracker) Died(id profile.ThreadID, tsc uint64, cpuNS int64, rest []record.Delta, worked uint64) {
	t.threads[id].worked = worked
	t.queue.add(t.threads[id].stream, &item{tsc: tsc, died: true, rec: record.Record{TSC: tsc, CPUNS: cpuNS, Delta: rest}})
}

// Advance handles everything before a moment. Every thread's records up to
// there must have been given.
func (t *Tracker) Advance(horizon uint64) {
	for x, i := t.queue.next(horizon); x != nil; x, i = t.queue.next(horizon) {
		t.handle(x, i)
		*i = item{}
	}
}

// Start returns the function that a thread began in, 0 when unknown.
func (t *Tracker) Start(id profile.ThreadID) profile.Addr {
	if x := t.threads[id]; x != nil {
		return x.start
	}
	if t.c.Goroutines {
		return t.departed[id].start
	}
	return t.gone.of(id).start
}

// Sends tells whether more of what a goroutine sends is to be recorded.
func (t *Tracker) Sends(id profile.ThreadID) bool {
	x := t.threads[id]
	return x != nil && t.goes.more(x)
}

// handle lets the rules have what a thread did: a record goes to the one whose
// kind it is, births and deaths to all.
func (t *Tracker) handle(x *thread, i *item) {
	if i.born {
		t.born(x)
		return
	}
	if i.fault() {
		x.faulted(i.rec.Wait, i.tsc)
		t.mpi.waited(x)
		return
	}
	if w := i.rec.Wait; w != nil {
		if w.Kind == profile.WaitCondition && w.Site != 0 && w.Site == x.joinSite {
			w.Kind = profile.WaitJoin // by a function of the library's that has no name
		}
		t.mpi.within(x, w)
		if x.waited(w, i.rec, t.c.NSPerTick) {
			if w.Object != 0 {
				t.words.waited(x, w, i.tsc)
			}
			t.mpi.waited(x)
		}
		if w.Wakes > 0 {
			t.words.woke(x, w, i.tsc)
		}
		return
	}
	x.tick(&i.rec, t.c.NSPerTick)
	x.acc = record.Log(x.acc, i.rec.Delta)
	t.mpi.counted(x, i.rec.Delta)
	if t.c.Loop != nil {
		x.rounds.work += t.c.Work(i.rec.Delta)
		x.rounds.mark(i.tsc)
	}
	if i.died {
		for _, r := range t.listening() {
			if r.dying != nil {
				r.dying(x)
			}
		}
		t.died(x, x.arrive(i.rec))
		t.queue.end(x.stream)
		t.forget(x)
		return
	}
	x.joining = false
	if k := i.rec.Kind; int(k) < len(t.handlers) && t.handlers[k] != nil {
		t.handlers[k](x, i.rec)
	}
}

// listening are the rules that hear of births and deaths: of goroutines their own,
// which is the last.
func (t *Tracker) listening() []rule {
	if t.c.Goroutines {
		return t.rules[len(t.rules)-1:]
	}
	return t.rules
}

func (t *Tracker) born(x *thread) {
	x.alive = true
	if p := x.parent; p != nil && !t.c.Goroutines {
		x.start = p.nextStart
		x.begin = x.start
	}
	for _, r := range t.listening() {
		if r.born != nil {
			r.born(x)
		}
	}
}

func (t *Tracker) died(x *thread, a arrival) {
	x.alive = false
	if !t.c.Goroutines && !t.joins.filed { // else there will be no wholeLives
		end := a
		x.end = &end
	}
	for _, e := range x.came {
		e.leave(x)
	}
	x.came = nil
	for _, r := range t.listening() {
		if r.died != nil {
			r.died(x, a)
		}
	}
}
