package native

import (
	"math"
	"slices"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/perf"
	"github.com/skewlens/skewlens/profiler/internal/probe/solve"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/section"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// cpuClockGap is how old a reading of a thread's CPU clock may be at a record.
const cpuClockGap = 50 * time.Microsecond

// threads are those of the program: each has a number, an area for its
// counters, and writes records there, which are drained into the tracker.
type threads struct {
	p       *tracee.Process
	in      *injection
	solver  *solve.Solver
	tracker *section.Tracker
	calls   *calls
	waits   *waitReader
	gates   *gates
	units   *units
	rate    tickRate

	all        []*thread // by ThreadID
	byTid      map[int]*thread
	early      map[int]tracee.Event // that stopped before their creator said so
	slots      slots
	births     births
	silent     bool        // nobody reads CPU clocks: see silence
	goroutines *goroutines // nil: the program is not in Go
	faults     pageFaults
	hardware   *hardware
	cores      *cores
	fresh      uint64 // when there was an event last that had to be waited for: the next ones happened later
	deaths     int    // since all were drained
	looked     bool   // for libraries, when the first one died
	lost       uint64 // calls through pointers whose targets were not told apart
	room       []record.Delta
	spare      []*living // of threads that have ended, for those that will be born
}

// thread is a thread of the target, and what is wanted of it when it has ended: there
// may be very many.
type thread struct {
	id         profile.ThreadID
	begin, end uint64
	cpuNS      int64
	totals     profile.Counts
	with       *thread        // whose totals hold this one's, too: see lives; nil: its own hold them,
	work       uint64         // else so many instructions
	stood      []profile.Addr // where in the frames that it never left it stood
	dead       bool
	*living    // nil: it has ended, and nobody asks what it was
}

// living is what else there is of a thread.
type living struct {
	tid      int
	slot     int
	area     *threadarea.Area
	mem      []byte
	lastTSC  uint64
	clockTSC uint64         // of the last record that bears its CPU clock,
	clockNS  int64          // which was this
	active   []record.Delta // frames that it never left
	parent   *thread        // nil: the first
	awaited  bool           // it has waited for a future since it created a thread
	self     uint64         // by which those that it creates name it
	alone    bool           // nobody traces it
	rounds   []rounding     // of loops that may deal work out
	partly   []record.Delta // what it did in rounds that were told since its last other record

	counted         *perf.Thread   // what the kernel and the processor count of it; nil: nothing
	grown, grownAll []record.Delta // that since its last record with counters, and in all

	goroutine threadarea.Goroutine
	hidden    bool           // it is of Go's runtime
	left      []record.Delta // what it left by panics,
	untold    []record.Delta // and since its last record
	open      []record.Delta // frames that it was caught in by that one
}

func newThreads(p *tracee.Process, in *injection, solver *solve.Solver, tracker *section.Tracker, rate tickRate) *threads {
	return &threads{p: p, in: in, solver: solver, tracker: tracker, rate: rate, calls: &calls{in: in, solver: solver, sites: map[uint64]*site{}, tails: map[tail][]uint64{}, ways: map[string][]uint64{}, made: map[*cfg.Func][]x86.Insn{}},
		byTid: map[int]*thread{}, early: map[int]tracee.Event{}, slots: slots{next: 1}}
}

// birth numbers a new thread, which is stopped before its first instruction, and
// prepares its area. Threads are numbered in the order in which they were created,
// which their own first stops need not follow.
func (ts *threads) birth(tid int, parent *thread) (*thread, error) {
	t := &thread{begin: rdtsc(), living: ts.living()}
	t.tid, t.parent = tid, parent
	ts.elder() // those who have died leave room
	err := ts.settle(t, tid)
	if err != nil && ts.births.on {
		ts.watchAll() // nor is any needed for others then
		err = ts.settle(t, tid)
	}
	if err != nil {
		return nil, err
	}
	ts.open(tid)
	ts.hardware.join(t)
	ts.enter(t)
	ts.tracker.Handle(t.id, ts.p.FS(tid))
	return t, nil
}

// settle gives a thread an area; by is stopped before its first instruction,
// and can map some.
func (ts *threads) settle(t *thread, by int) error {
	in := ts.in
	t.slot = ts.slots.take()
	if !in.mapped(t.slot) {
		if err := in.grow(ts.p, by); err != nil {
			ts.slots.give(t.slot)
			return err
		}
	}
	mem, err := in.view(t.slot)
	if err != nil {
		return err
	}
	t.mem = mem
	gap := ts.rate.ticks(cpuClockGap)
	if ts.silent {
		gap = threadarea.Never
	}
	prepare := threadarea.New
	if ts.goroutines != nil {
		prepare = threadarea.NewGoroutine
	}
	t.area = prepare(in.common, mem, in.base(t.slot), gap, ts.rate.ticks(longWait), t.begin)
	if ts.goroutines != nil {
		if ts.cores != nil {
			t.area.Follow(ts.cores.clocks)
		}
		ts.units.join(t.area, false)
		return nil
	}
	t.area.SetTimer(in.timer())
	switch len(ts.all) {
	case 0: // who is alone meets nobody, and waits for nobody
		t.area.CloseGates()
	case 1:
		ts.all[0].area.OpenGates()
		ts.units.join(ts.all[0].area, false)
		ts.faults.open(ts.p.Pid, ts.all[0].tid, t.tid)
	}
	ts.gates.tell(t.area)
	ts.units.join(t.area, len(ts.all) == 0)
	in.simulation.join(t)
	ts.births.introduce(t, in)
	return nil
}

// enter numbers a new thread.
func (ts *threads) enter(t *thread) {
	t.id = profile.ThreadID(len(ts.all))
	ts.all = append(ts.all, t)
	ts.byTid[t.tid] = t
	if ts.goroutines == nil { // else it is threads that have clocks
		ts.cores.join(t)
	}
	parentID := profile.ThreadID(-1)
	if t.parent != nil {
		parentID = t.parent.id
	}
	ts.tracker.Born(t.id, parentID, t.begin)
}

// death takes what a thread has left and frees its area. Its page faults were collected.
func (ts *threads) death(t *thread) {
	t.dead = true
	if !ts.looked {
		ts.looked = true
		ts.in.seeLater(ts.p)
	}
	ts.cores.leave(t)
	if t.end == 0 {
		t.end = rdtsc()
	}
	ts.in.simulation.leave(t)
	ts.drain(t)
	ts.births.bury(t)
	all, rest, none := t.area.Ends(&ts.room)
	all = ts.solver.Resolve(t.area, all)
	if none {
		rest = slices.Clone(all)
	} else {
		rest = ts.solver.Resolve(t.area, slices.Clone(rest))
	}
	if open := t.caught(t.untold, nil); len(t.active)+len(open) > 0 {
		rest = record.Merge(slices.Concat(rest, t.active, open))
	}
	if more, sum := ts.hardware.end(t); len(sum) > 0 {
		rest, all = record.Add(rest, more), record.Add(all, sum)
	}
	t.work = ts.solver.Work(all)
	if ts.tracker.NeedsLives() {
		ts.tracker.Lived(t.id, record.Merge(slices.Concat(all, t.active, t.left)))
	}
	ts.tracker.Died(t.id, t.end, t.cpuNS, rest, t.work)
	ts.lived(t, all)
	ts.lost += t.area.Lost()
	ts.goroutines.ended(t)
	if err := ts.in.wipe(t.slot, t.mem, t.area); err == nil {
		ts.slots.give(t.slot)
	}
	ts.leave(t)
}

// leave is told that nobody looks at a thread's area any more, but for the clocks.
func (ts *threads) leave(t *thread) {
	if ts.cores == nil {
		ts.in.common.Leave(t.area)
	}
	if t.area, t.mem = nil, nil; ts.goroutines != nil || ts.in.simulation != nil {
		return
	}
	if ts.byTid[t.tid] == t {
		delete(ts.byTid, t.tid)
	}
	ts.spare, t.living = append(ts.spare, t.living), nil
}

// living is what else there is of a thread that will be born.
func (ts *threads) living() *living {
	n := len(ts.spare)
	if n == 0 {
		return new(living)
	}
	l := ts.spare[n-1]
	ts.spare, *l = ts.spare[:n-1], living{}
	return l
}

// endOf is when a thread came to its end of which the profiler hears now, when
// something else may have kept it busy for a while. It was not before the thread
// had done all that its CPU clock says.
func (ts *threads) endOf(t *thread) uint64 {
	ts.drain(t)
	worked := max(t.begin, t.clockTSC) + ts.rate.ticks(time.Duration(max(0, t.cpuNS-t.clockNS)))
	return min(t.end, max(ts.fresh, t.lastTSC, worked))
}

// endAll is the death of all that are left.
func (ts *threads) endAll() {
	ts.census(true)
	ts.faults.collect()
	ts.dropAll()
	for _, t := range ts.all {
		switch {
		case ts.goroutines != nil && !t.dead:
			t.end = rdtsc()
			ticks, since := t.area.Stints()
			if since > 0 && since < t.end {
				ticks += t.end - since
			}
			t.cpuNS = ts.rate.ns(ticks)
			ts.death(t)
		case t.dead:
		case t.alone:
			ts.vanish(t)
		default:
			ts.death(t)
		}
	}
	ts.close()
}

// drainSome is drainAll at a death, but not at each where many are alive: what
// there is can wait, in its order.
func (ts *threads) drainSome() {
	const each = 16
	if ts.deaths++; ts.deaths*each >= len(ts.byTid) {
		ts.deaths = 0
		ts.drainAll()
	}
}

// drainAll takes the records of all threads and lets the tracker handle them.
func (ts *threads) drainAll() { ts.advance(ts.takeAll()) }

// takeAll takes the records of all threads. What is from before the horizon is surely
// complete: a record that is being written just now bears a time that is not before
// its thread's last one, and no other thread can write one from before this moment.
func (ts *threads) takeAll() (horizon uint64) {
	const slack = 1 << 20 // ticks for a store to become visible
	horizon = rdtsc() - slack
	certain := ts.census(false)
	ts.faults.collect()
	if ts.goroutines != nil {
		ts.in.common.Listen(manyWaits)
	}
	for _, t := range ts.byTid {
		if t.dead || t.hidden {
			continue
		}
		busy := t.area.Busy()
		ts.drain(t)
		if busy {
			horizon = min(horizon, t.lastTSC)
		}
	}
	if !certain {
		return 0
	}
	return horizon
}

// advance lets the tracker handle what was taken, up to a moment, and threads know
// what it decided.
func (ts *threads) advance(horizon uint64) {
	ts.tracker.Advance(horizon)
	for _, t := range ts.byTid {
		if !t.dead && ts.goroutines == nil {
			ts.gates.tell(t.area)
		}
	}
}

// tryGates lets a thread that is stopped go on telling of gates of which it is not known
// what they are. Who is alone does not.
func (ts *threads) tryGates(t *thread) {
	if ts.goroutines == nil && len(ts.all) > 1 {
		ts.gates.try(t.area)
	}
}

// drain takes the records of one thread.
func (ts *threads) drain(t *thread) {
	if ts.goroutines != nil {
		ts.drainGo(t)
		return
	}
	faults := ts.faulted(t)
	faulted := func(until uint64) {
		for ; len(faults) > 0 && faults[0].TSC <= until; faults = faults[1:] {
			ts.tracker.Record(t.id, faults[0])
		}
	}
	t.area.Records(func(rec record.Record) {
		faulted(rec.TSC)
		t.lastTSC = rec.TSC
		ts.hardware.until(t)
		if rec.CPUNS > 0 {
			t.clockTSC, t.clockNS = rec.TSC, rec.CPUNS
		}
		if rec.Raw != nil {
			ts.tracker.Record(t.id, ts.waits.record(rec.Raw))
			return
		}
		if section.Awaits(rec.Kind) {
			t.awaited, ts.births.futures = true, true
		}
		rec.Delta = ts.solver.Resolve(t.area, rec.Delta)
		if rec.Whole {
			rec.Delta = record.Add(rec.Delta, t.since())
		}
		if loop, more := ts.units.passed(t, &rec); more {
			ts.skip(loop)
		}
		if section.IsUnit(rec.Kind) {
			t.partly = record.Add(t.partly, rec.Delta)
			ts.tracker.Record(t.id, rec)
			return
		}
		since := record.Add(t.partly, rec.Delta)
		t.partly = nil
		if section.IsGate(rec.Kind) {
			ts.gates.passed(&rec)
			ts.tracker.Record(t.id, rec)
			return
		}
		if section.OfTeam(rec.Kind) {
			rec.Site, rec.Arg3 = 0, ts.calls.function(rec.Arg3)
			ts.tracker.Record(t.id, rec)
			return
		}
		rec.Site, rec.Chain = ts.calls.chain(&rec, since)
		rec.Stack = nil
		if section.ArgIsFunction(rec.Kind) {
			rec.Arg3 = ts.calls.function(rec.Arg3)
		}
		ts.tracker.Record(t.id, rec)
	})
	faulted(math.MaxUint64)
}

// look tells the tracker how far those have come that a thread created, if it
// has waited for futures: it may have waited for them.
func (ts *threads) look(parent *thread) {
	if !parent.awaited {
		return
	}
	parent.awaited = false
	for _, t := range ts.all {
		if !t.dead && t.parent == parent {
			ts.tracker.Seen(t.id, rdtsc(), ts.solver.Work(t.area.All()))
		}
	}
}

// slots are numbers of areas. 0 is none of a thread's.
type slots struct {
	free []int
	next int
}

func (s *slots) take() int {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	s.next++
	return s.next - 1
}

func (s *slots) give(slot int) { s.free = append(s.free, slot) }
