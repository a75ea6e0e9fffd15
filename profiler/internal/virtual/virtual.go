// Package virtual keeps threads together in virtual time, so that on a few
// cores they take turns as they would on one core each: who deals itself work
// then takes as much of it as its speed allows, not as its luck with the
// scheduler.
//
//	thread ── look.S: says its clock, holds itself when too far ahead ──┐
//	   ▲                                                               ▼
//	   └──────────── goes on when the last one has come nearer ──── table of clocks
//	                                                                   ▲
//	Machine.Tick, some thousand times a second ── who sleeps, who is new, who is in code without a clock
//
// A thread's clock is the instructions that it has executed. Who is about to take
// what others may want as well, by a lock or an atomic instruction, waits there
// until nobody who runs is a quantum behind; elsewhere the order does not matter,
// and threads may be further apart. Threads that sleep hold nobody, and go on from
// the time that it is when they wake. A new thread begins at its creator's time.
// (Graphite calls this lax synchronisation with a barrier's bound, Sniper a
// quantum, zsim bound and weave; they simulate every instruction, this holds
// threads that run natively.)
//
// All that is certain is done by the threads themselves, without the profiler.
// What only the operating system knows is found out here. Where nothing gets on
// for a while, whatever the reason, everybody is let go for good: a program is
// never held for ever.
package virtual

import (
	"math"
	"sync"
	"time"
)

const (
	// Quantum is how many instructions a thread that takes something may be ahead
	// of the last one. Less costs more changes from thread to thread.
	Quantum = 400_000

	// Period is how often the machine looks at least while threads fall asleep and
	// wake, or somebody asks: a look takes as long as ten thousand instructions.
	Period = 200 * time.Microsecond

	mostCalm = 2 // times the period is doubled where nothing of that is seen
	seldom   = 50 * time.Millisecond
	quiet    = 50_000_000      // ns for which the others wait for who runs and says nothing,
	swift    = 16              // and how many instructions they take it to execute in each that follows
	perNS    = 1               // instructions in a nanosecond of code that has no clock, rather fewer than more
	sleepers = 16              // of those who slept, how many are looked at in a tick
	spun     = 50_000          // ns after which who runs in a runtime to wait spins there, and fetches no task
	patient  = 2 * time.Second // for which nothing may get on
)

// Clock is a thread's entry of the table that all threads share.
type Clock interface {
	Clock() int64   // its virtual time
	SetClock(int64) // when it is born
	Forward(int64)  // to a time, if it is not there yet
	Away() int64    // the time since then, where it does not say
	SetAway(int64)
	Woke() int64   // its time when others may last have woken by what it did, since this was last asked; 0: they have not
	Looks() uint64 // how often it has said so
	Held() bool    // it waits for others,
	Asks() bool    // or for the machine to look, since they may just have woken,
	Answer()       // which has: now it waits for others
	Until() int64  // until the bound is there
	Active() bool  // others wait for it: it does not sleep, nor spin
	SetActive(bool)
	Rests() bool // it waits in a runtime that may spin,
	Spins()      // and does: nobody waits for it until it works
	Release()    // lets it go on, if it waits
	LookSoon()   // makes it look at the next place
}

// Table is what the threads share.
type Table interface {
	SetBound(int64) // the virtual time up to which they go on
	SetFree(bool)   // whether they go on beyond
}

// System is what the operating system says of a thread.
type System interface {
	Sleeps() bool // it is neither running nor about to
	CPU() int64   // for how many nanoseconds it has run
}

// Machine is the virtual cores of a process.
type Machine struct {
	mu      sync.Mutex
	table   Table
	threads []*thread
	next    int       // whom a tick looks at first
	calm    int       // for how many ticks nobody has fallen asleep or woken
	now     int64     // the time of the last thread that is awake
	moved   time.Time // when that changed last, or nobody was held
	free    int       // > 0: nobody is held for now
	over    bool      // … any more

	// As of the tick before: who was the last one, its time on a processor, and
	// its clock.
	last *thread
	cpu  int64
	at   int64
}

type thread struct {
	Clock
	sys   System
	awake bool
	asks  bool // it asked before this tick
	looks uint64
	since int64 // its time on a processor when it was first seen to say nothing; 0: it does
	rests int64 // likewise, and to rest
}

// New returns a machine without threads.
func New(table Table) *Machine { return &Machine{table: table} }

// Born adds a thread that begins at its creator's time; nil: now.
func (m *Machine) Born(c Clock, sys System, creator Clock) {
	m.mu.Lock()
	defer m.mu.Unlock()
	begin := m.now
	if creator != nil {
		begin = max(begin, creator.Clock())
	}
	c.SetClock(begin)
	c.SetActive(true)
	m.calm = 0
	m.threads = append(m.threads, &thread{Clock: c, sys: sys, awake: true, looks: c.Looks()})
	m.bound()
}

// Now is the time of the last thread that was awake, as of the last tick.
func (m *Machine) Now() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Died removes a thread.
func (m *Machine) Died(c Clock) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, t := range m.threads {
		if t.Clock == c {
			c.SetActive(false)
			c.Release()
			m.threads = append(m.threads[:i], m.threads[i+1:]...)
			break
		}
	}
	m.bound()
}

// Free lets everybody go until Bind is called as often.
func (m *Machine) Free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free++
	m.bound()
}

// Bind ends Free.
func (m *Machine) Bind() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free--
}

// Next is in how long the machine is to look again, unless somebody asks: one
// thread alone is with nobody.
func (m *Machine) Next() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.threads) < 2 {
		return seldom
	}
	return Period << min(m.calm, mostCalm)
}

// Over reports whether everybody was let go for good, since nothing got on.
func (m *Machine) Over() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

// Tick looks at all threads, at a time.
func (m *Machine) Tick(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calm++
	for _, t := range m.threads {
		t.asks = t.Asks()
	}
	var woken []*thread
	seen, slept := m.next, 0
	for i := range m.threads {
		k := (m.next + i) % len(m.threads)
		t := m.threads[k]
		if !t.awake {
			slept++
		}
		if slept <= sleepers {
			seen = k + 1
		}
		if m.look(t, slept <= sleepers) {
			woken = append(woken, t)
		}
	}
	m.next = seen
	before, woke := m.now, m.woke()
	m.pass()
	if len(woken) > 0 && m.now-Quantum > woke { // who let them go has come far since, in one long piece of work
		m.now = max(before, woke)
	}
	for _, t := range woken {
		m.calm, t.awake = 0, true
		t.Forward(m.now)
		t.SetActive(true)
	}
	if m.now != before || !m.holds() || m.moved.IsZero() {
		m.moved = at
	}
	m.over = m.over || at.Sub(m.moved) > patient
	m.bound()
	for _, t := range m.threads {
		t.asks = false
	}
}

// woke is the first of the times when those who have woken since the tick before may
// have done so. What one of them says is not asked: its clock stood still.
func (m *Machine) woke() int64 {
	first := int64(math.MaxInt64)
	for _, t := range m.threads {
		if v := t.Woke(); v != 0 && t.awake {
			first = min(first, v)
		}
	}
	return first
}

// look sees whether a thread sleeps, of those who did only where that is asked
// for; it reports whether it has woken up.
func (m *Machine) look(t *thread, sleeper bool) (woken bool) {
	if n := t.Looks(); n != t.looks {
		t.looks, t.since, t.rests = n, 0, 0
		return !t.awake
	}
	if t.Held() {
		return !t.awake
	}
	if !t.awake && !sleeper {
		return false
	}
	t.LookSoon()
	if !t.sys.Sleeps() {
		t.rest()
		return !t.awake
	}
	if t.awake {
		m.calm, t.awake = 0, false
		t.SetActive(false)
	}
	return false
}

// rest: who waits in a runtime and runs there for longer than it takes to fetch a task
// spins. It is not the time that tells, since others may have the processor meanwhile.
func (t *thread) rest() {
	if !t.awake || !t.Rests() || !t.Active() {
		return
	}
	switch cpu := t.sys.CPU(); {
	case t.rests == 0:
		t.rests = cpu
	case cpu-t.rests > spun:
		t.Spins()
	}
}

// pass sets the time to that of the last one who is awake, and does something.
func (m *Machine) pass() {
	var last *thread
	for _, t := range m.threads {
		if t.awake && t.Active() && (last == nil || t.time() < last.time()) {
			last = t
		}
	}
	if last == nil {
		m.last = nil
		return
	}
	m.follow(last)
	now := last.atMost(math.MaxInt64)
	for _, t := range m.threads {
		if t.awake && t.Active() {
			now = min(now, t.atMost(now))
		}
	}
	m.now = max(m.now, now)
}

// atMost is how far a thread may have come, or a time that it has surely reached. Who has
// run for long without a word is in a long loop, and further than it says; or it spins in
// a way that is not known as such, maybe for what one does who is held for it. Who runs
// meanwhile gets on no faster than it does.
func (t *thread) atMost(enough int64) int64 {
	at := t.time()
	if at >= enough || t.Held() || t.Looks() != t.looks {
		return at
	}
	cpu := t.sys.CPU()
	if t.since == 0 {
		t.since = cpu
	}
	return at + swift*max(0, cpu-t.since-quiet)
}

// time is how far a thread has come.
func (t *thread) time() int64 { return t.Clock.Clock() + t.Away() }

// follow puts the last one forward where it runs without getting on by its own
// clock: in a library, in the kernel, or in a loop that is one unit of work.
func (m *Machine) follow(t *thread) {
	cpu, at := t.sys.CPU(), t.Clock.Clock()
	if ran := perNS * (cpu - m.cpu); t == m.last && ran > 2*(at-m.at) {
		t.SetAway(t.Away() + ran - (at - m.at))
	}
	m.last, m.cpu, m.at = t, cpu, at
}

// holds reports whether anybody waits.
func (m *Machine) holds() bool {
	for _, t := range m.threads {
		if t.Held() {
			return true
		}
	}
	return false
}

// bound says how far threads may go, and lets those go who may. Who asks waits for a tick
// that begins after it has: of one before, those whom it has woken may have slept.
func (m *Machine) bound() {
	v, free := m.now+Quantum, m.free > 0 || m.over
	m.table.SetBound(v)
	m.table.SetFree(free)
	for _, t := range m.threads {
		switch {
		case free, t.Until() <= v && (t.asks || !t.Asks()):
			t.Release()
		case t.asks:
			t.Answer()
		}
	}
}
