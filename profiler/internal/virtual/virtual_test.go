package virtual

import (
	"math/rand/v2"
	"testing"
	"time"
)

// fake is a thread: its clock as look.S would keep it, and what the operating
// system would say.
type fake struct {
	clock, away, cpu int64
	looks            uint64
	active, held     bool
	asks             bool
	sleeps           bool
	rests            bool
	asked            int
	woke             int64
	meanwhile        func() // what others do when the machine has looked at it
}

func (f *fake) Clock() int64      { return f.clock }
func (f *fake) SetClock(v int64)  { f.clock = v }
func (f *fake) Forward(v int64)   { f.clock = max(f.clock, v) }
func (f *fake) Away() int64       { return f.away }
func (f *fake) SetAway(v int64)   { f.away = v }
func (f *fake) Looks() uint64     { return f.looks }
func (f *fake) Woke() (v int64)   { v, f.woke = f.woke, 0; return v }
func (f *fake) Held() bool        { return f.held }
func (f *fake) Active() bool      { return f.active }
func (f *fake) Until() int64      { return f.clock }
func (f *fake) SetActive(is bool) { f.active = is }
func (f *fake) Rests() bool       { return f.rests }
func (f *fake) Spins()            { f.active = false }
func (f *fake) Release()          { f.held, f.asks = false, false }
func (f *fake) Asks() bool        { return f.asks }
func (f *fake) Answer()           { f.asks = false }
func (f *fake) LookSoon()         { f.asked++ }
func (f *fake) Sleeps() bool {
	was := f.sleeps || f.held
	if f.meanwhile != nil {
		f.meanwhile()
	}
	return was
}
func (f *fake) CPU() int64 { return f.cpu }

// work executes so many instructions, and looks.
func (f *fake) work(n int64, t *shared) {
	f.clock, f.away, f.cpu, f.looks = f.clock+n, 0, f.cpu+n, f.looks+1
	f.held = !t.free && f.clock > t.bound
}

type shared struct {
	bound int64
	free  bool
}

func (s *shared) SetBound(v int64) { s.bound = v }
func (s *shared) SetFree(is bool)  { s.free = is }

// world is a machine with some threads, and the time.
type world struct {
	*Machine
	shared  shared
	threads []*fake
	now     time.Time
}

func newWorld(n int) *world {
	w := &world{now: time.Unix(1, 0)}
	w.Machine = New(&w.shared)
	for range n {
		w.born(nil)
	}
	return w
}

func (w *world) born(creator *fake) *fake {
	f := &fake{}
	if creator == nil {
		w.Born(f, f, nil)
	} else {
		w.Born(f, f, creator)
	}
	w.threads = append(w.threads, f)
	return f
}

func (w *world) tick(n int) {
	for range n {
		w.now = w.now.Add(Period)
		w.Tick(w.now)
	}
}

// TestTogether: however the scheduler favours some, nobody who works gets
// further ahead of who does than a quantum and what is done between two looks.
func TestTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	w := newWorld(6)
	const unit = 20_000
	for range 20_000 {
		if f := w.threads[min(rng.IntN(6), rng.IntN(6))]; !f.held {
			f.work(unit, &w.shared)
		}
		if rng.IntN(5) == 0 {
			w.tick(1)
		}
		least, most := w.threads[0].clock, w.threads[0].clock
		for _, f := range w.threads {
			least, most = min(least, f.clock), max(most, f.clock)
		}
		if most-least > Quantum+unit {
			t.Fatalf("one thread is %d ahead of another", most-least)
		}
	}
	if w.threads[5].clock < 20*Quantum {
		t.Errorf("the threads have come to %d only", w.threads[5].clock)
	}
}

// TestSleepersHoldNobody, and go on from the time that it is when they wake.
func TestSleepersHoldNobody(t *testing.T) {
	w := newWorld(2)
	a, b := w.threads[0], w.threads[1]
	b.sleeps = true
	for range 50 {
		w.tick(1)
		if !a.held {
			a.work(Quantum/2, &w.shared)
		}
	}
	if a.clock < 20*Quantum || b.active {
		t.Fatalf("at %d beside one who sleeps", a.clock)
	}
	b.sleeps = false
	w.tick(1)
	if b.clock < a.clock-Quantum || !b.active {
		t.Errorf("wakes at %d, the other is at %d", b.clock, a.clock)
	}
	a.work(2*Quantum, &w.shared)
	w.tick(3)
	if !a.held {
		t.Error("nobody waits for who has woken")
	}
}

// TestWokenWhileTheMachineWasAway: who has woken since the last tick has done so when
// others let it go, however far these have come since in one long piece of work; whether
// it has gone on already, has asked when it is, or has had no processor yet.
func TestWokenWhileTheMachineWasAway(t *testing.T) {
	w := newWorld(4)
	long, goesOn, asks, waits := w.threads[0], w.threads[1], w.threads[2], w.threads[3]
	for _, f := range w.threads[1:] {
		f.sleeps = true
	}
	long.work(Quantum, &w.shared)
	w.tick(1)
	const woke = Quantum + 1000
	long.work(1000, &w.shared)
	long.woke = woke // by which the others wake
	for _, f := range w.threads[1:] {
		f.sleeps = false
	}
	goesOn.looks, goesOn.active, goesOn.clock = goesOn.looks+1, true, woke
	asks.looks, asks.held, asks.woke = asks.looks+1, true, 1 // it has looked before it was put forward
	long.work(40*Quantum, &w.shared)
	w.tick(1)
	for i, f := range []*fake{goesOn, asks, waits} {
		if f.clock != woke || !f.active {
			t.Errorf("%d: goes on at %d, active %v; woke at %d", i, f.clock, f.active, woke)
		}
	}
	if long.held = w.shared.bound < long.clock; !long.held {
		t.Errorf("who is %d ahead is not held", long.clock-woke)
	}
}

// TestAsksTooLate: who asks when the machine has already looked at those whom it has woken
// goes on when it has looked again.
func TestAsksTooLate(t *testing.T) {
	w := newWorld(2)
	wakes, woken := w.threads[0], w.threads[1]
	woken.sleeps = true
	w.tick(1)
	wakes.work(1000, &w.shared)
	woken.meanwhile = func() {
		woken.meanwhile, woken.sleeps = nil, false
		wakes.looks, wakes.held, wakes.asks, wakes.woke = wakes.looks+1, true, true, wakes.clock
	}
	w.tick(1)
	if !wakes.held || woken.active {
		t.Fatalf("who asked too late is held: %v; whom it has woken is known to be awake: %v", wakes.held, woken.active)
	}
	w.tick(1)
	if wakes.held || !woken.active {
		t.Errorf("then it is held: %v; the other is known to be awake: %v", wakes.held, woken.active)
	}
}

// TestAnswered: who asks and is too far ahead waits for the others when that is known.
func TestAnswered(t *testing.T) {
	w := newWorld(2)
	a, b := w.threads[0], w.threads[1]
	w.tick(1)
	a.work(3*Quantum, &w.shared)
	a.asks = true
	w.tick(1)
	if !a.held || a.asks {
		t.Fatalf("held: %v, asks: %v", a.held, a.asks)
	}
	b.work(3*Quantum, &w.shared)
	w.tick(1)
	if a.held {
		t.Error("it is held when the other has come")
	}
}

// TestBirthAndDeath: a new thread begins at its creator's time; who dies holds
// nobody.
func TestBirthAndDeath(t *testing.T) {
	w := newWorld(1)
	for range 30 {
		w.threads[0].work(Quantum/2, &w.shared)
		w.tick(1)
	}
	child := w.born(w.threads[0])
	if child.clock != w.threads[0].clock || !child.active {
		t.Errorf("born at %d, its creator is at %d", child.clock, w.threads[0].clock)
	}
	w.threads[0].work(2*Quantum, &w.shared)
	w.tick(1)
	if !w.threads[0].held {
		t.Error("nobody waits for the child")
	}
	w.Died(child)
	w.tick(2)
	if w.threads[0].held {
		t.Error("somebody waits for who is dead")
	}
}

// TestUncounted: who runs without getting on by its clock gets on by the
// processor's.
func TestUncounted(t *testing.T) {
	w := newWorld(2)
	a, b := w.threads[0], w.threads[1]
	for range 40 {
		b.cpu += int64(Period) // in a library
		if !a.held {
			a.work(Quantum/2, &w.shared)
		}
		w.tick(1)
	}
	if a.clock < 15*Quantum {
		t.Errorf("at %d beside one in a library", a.clock)
	}
}

// TestNothingGetsOn: where whoever the others wait for neither runs nor sleeps,
// they are let go in the end, for good.
func TestNothingGetsOn(t *testing.T) {
	w := newWorld(2)
	w.threads[0].work(2*Quantum, &w.shared)
	for n := 0; !w.Over(); n++ {
		w.tick(1)
		if n > int(2*patient/Period) {
			t.Fatal("held for ever")
		}
	}
	if w.threads[0].held || !w.shared.free {
		t.Error("held after all were let go")
	}
}

// TestFree lets everybody go, as long as somebody asks for it.
func TestFree(t *testing.T) {
	w := newWorld(2)
	w.threads[0].work(2*Quantum, &w.shared)
	w.Free()
	if w.threads[0].held || !w.shared.free {
		t.Error("held although free")
	}
	w.Bind()
	w.tick(1)
	if w.shared.free {
		t.Error("free for ever")
	}
}

// TestManySleep: of many who sleep some are looked at in each tick, and all in turn.
func TestManySleep(t *testing.T) {
	w := newWorld(100)
	for _, f := range w.threads[1:] {
		f.sleeps = true
	}
	w.tick(100)
	for _, f := range w.threads[1:] {
		f.sleeps, f.asked = false, 0
	}
	w.threads[0].work(1, &w.shared)
	w.tick(100/sleepers + 2)
	for i, f := range w.threads {
		if !f.active {
			t.Fatalf("thread %d is awake, and nobody knows", i)
		}
	}
}

// TestAlone: one thread is not looked at often.
func TestAlone(t *testing.T) {
	w := newWorld(1)
	if w.Next() <= Period {
		t.Errorf("one thread is looked at each %v", w.Next())
	}
	w.born(w.threads[0])
	if w.Next() != Period {
		t.Errorf("two are looked at each %v", w.Next())
	}
}

// TestCalm: the machine looks less often while nobody falls asleep or wakes.
func TestCalm(t *testing.T) {
	w := newWorld(2)
	step := func() time.Duration {
		for _, f := range w.threads {
			if !f.sleeps && !f.held {
				f.work(1, &w.shared)
			}
		}
		w.tick(1)
		return w.Next()
	}
	for range 5 {
		step()
	}
	if got := w.Next(); got != Period<<mostCalm {
		t.Errorf("looks each %v although nothing happens", got)
	}
	for _, sleeps := range []bool{true, false} {
		w.threads[1].sleeps = sleeps
		if got := step(); got != Period {
			t.Errorf("sleeps: %v; looks each %v", sleeps, got)
		}
		for range 5 {
			step()
		}
	}
	w.born(w.threads[0])
	if got := w.Next(); got != Period {
		t.Errorf("looks each %v where somebody was born", got)
	}
}

// TestSilent: nobody waits for long for who runs without a word; it may spin for what one
// does who is held for it.
func TestSilent(t *testing.T) {
	w := newWorld(3)
	a, b := w.threads[0], w.threads[1]
	w.threads[2].work(1000*Quantum, &w.shared)
	a.work(200*Quantum, &w.shared)
	for n := 0; a.held; n++ {
		b.cpu += int64(Period)
		if w.tick(1); n > int(60*time.Millisecond/Period) {
			t.Fatalf("still waits when the other has run for %v without a word", time.Duration(b.cpu))
		}
		a.held = a.clock > w.shared.bound
	}
	if w.shared.bound > a.clock+Quantum {
		t.Errorf("the bound is at %d, and one who gets on at %d", w.shared.bound, a.clock)
	}
}

// TestRests: who waits in a runtime is waited for as long as it may only fetch a task,
// however long others have its processor; once it spins there it is not.
func TestRests(t *testing.T) {
	w := newWorld(2)
	rests, works := w.threads[0], w.threads[1]
	rests.rests = true
	for range 20 {
		w.Tick(w.now) // it has no processor
	}
	if !rests.active {
		t.Error("nobody waits for who fetches a task")
	}
	for range 4 {
		rests.cpu += spun
		w.Tick(w.now)
	}
	if rests.active || !works.active {
		t.Errorf("who spins is active %v, who works %v", rests.active, works.active)
	}
}
