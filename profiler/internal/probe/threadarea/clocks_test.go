package threadarea

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// clocked is a process whose thread has a clock, the first of three.
type clocked struct {
	*process
	clocks Clocks
	own    Entry
}

const testQuantum = 1000

func newClocked() *clocked {
	p := newProcessOf(NewLayout([]Function{{Chords: 5, Sites: 3, Always: true}}, 0).WithClocks(), 1<<63)
	c := &clocked{process: p, clocks: p.area.common.Clocks(testQuantum)}
	c.clocks.Use(3)
	c.own = c.clocks.Entry(0)
	c.own.SetActive(true)
	c.own.SetClock(50)
	p.area.Join(c.clocks, c.own)
	c.clocks.SetBound(1 << 40)
	return c
}

func (c *clocked) count(counter int32, n int64) {
	c.area.put(c.l.counters+8*uint64(counter), uint64(n))
}

func (c *clocked) look(t *testing.T, times int) {
	t.Helper()
	for range times {
		c.DecGS32(OffFuel)
		c.CallTo(probetest.CodeAt + LookEntry)
	}
	if sig := c.run(t); sig != 0 {
		t.Fatal(sig)
	}
}

// TestAlone: who is alone says that it gets on, and no more.
func TestAlone(t *testing.T) {
	c := newClocked()
	c.clocks.SetWorth(0, 10, 1)
	c.count(0, 300_000)
	*c.area.half(OffLocks) = 1 // who is alone does not say that it unlocks
	c.area.SetAlone()
	c.own.SetAway(7_000_000)
	for range 3 {
		c.DecGS32(OffFuel)
		c.CallTo(probetest.CodeAt + LookEntry)
	}
	c.CallTo(probetest.CodeAt + TakesEntry)
	if sig := c.run(t); sig != 0 {
		t.Fatal(sig)
	}
	if locks := *c.area.half(OffLocks); locks != 0 {
		t.Errorf("holds %d locks", locks)
	}
	if c.own.Looks() != 3 || c.own.Clock() != 50 || c.own.Away() != 0 || c.own.Held() {
		t.Errorf("%d looks, clock %d, away %d, held %v", c.own.Looks(), c.own.Clock(), c.own.Away(), c.own.Held())
	}
}

// TestMeet: when somebody comes, the clock of who was alone is what it would have
// been, or the time that it is already, and goes on from there.
func TestMeet(t *testing.T) {
	const own = 50 + 30*100_000 - 5*100
	for now, want := range map[int64]int64{10: own, 9_000_000: 9_000_000} {
		c := newClocked()
		c.area.SetAlone()
		c.clocks.SetWorth(0, 30, -3)
		c.clocks.SetWorth(1, -5, 1)
		c.count(0, -300_000)
		c.count(1, 100)
		*c.area.common.word(c.l.live) = 3
		c.area.Meet(c.clocks, c.own, now)
		if c.own.Clock() != want {
			t.Errorf("clock %d when somebody comes, want %d", c.own.Clock(), want)
		}
		c.look(t, 1)
		if c.own.Looks() != 1 || c.own.Clock() != want {
			t.Errorf("then: %d looks, clock %d, want %d", c.own.Looks(), c.own.Clock(), want)
		}
	}
}

// TestLookAddsUp: what a thread says is what its counters are worth, whatever
// they count by, in either direction.
func TestLookAddsUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		c := newClocked()
		want := int64(50)
		for i := range int32(5) {
			step := int64(1+rng.IntN(40)) * (1 - 2*int64(rng.IntN(2)))
			worth, n := int64(rng.IntN(2000)-200), int64(rng.IntN(1000))
			c.clocks.SetWorth(i, worth, step)
			c.count(i, n*step)
			want += worth * n
		}
		c.look(t, 1)
		switch {
		case want < 50: // a sum that goes back is none
			if c.own.Clock() != 50 || c.own.Looks() != 0 {
				t.Errorf("says %d, want nothing", c.own.Clock())
			}
		case c.own.Clock() != want || c.own.Looks() != 1 || c.own.Held():
			t.Errorf("says %d after %d looks, want %d", c.own.Clock(), c.own.Looks(), want)
		}
	}
}

// TestLookLetsOthersGo: who was last, and is not any more, raises the bound.
func TestLookLetsOthersGo(t *testing.T) {
	c := newClocked()
	c.clocks.SetBound(1050)
	near, far, asks := c.clocks.Entry(1), c.clocks.Entry(2), c.clocks.Entry(3)
	for e, at := range map[Entry]int64{near: 1400, far: 9000, asks: 1300} {
		e.SetActive(true)
		e.SetClock(at)
		*e.common.half(e.at + entryHeld) = 1
		*e.common.word(e.at + entryUntil) = uint64(at)
	}
	*asks.common.half(asks.at + entryHeld) = forLook
	c.clocks.Use(4)
	c.clocks.SetWorth(0, 1, 1)
	c.count(0, 700)
	c.look(t, 1)
	if c.clocks.Bound() != 1750 || near.Held() || !far.Held() {
		t.Errorf("bound %d, held %v and %v; want 1750, false, true", c.clocks.Bound(), near.Held(), far.Held())
	}
	if asks.Answer(); !asks.Held() || asks.Asks() {
		t.Error("who asks for the machine was let go by a thread, or is not answered")
	}
}

// TestLookHolds is of whom it does not hold: one who is not too far, and
// anybody where all are free. (Who is held would never come back here.)
func TestLookHolds(t *testing.T) {
	for _, free := range []bool{false, true} {
		c := newClocked()
		last := c.clocks.Entry(1)
		last.SetActive(true)
		c.clocks.SetBound(1000)
		c.clocks.SetWorth(0, 1, 1)
		c.count(0, 900)
		if c.clocks.SetFree(free); free {
			c.count(0, 1e9)
		}
		c.look(t, 1)
		if c.own.Held() || c.clocks.Bound() != 1000 {
			t.Errorf("free %v: held %v, bound %d", free, c.own.Held(), c.clocks.Bound())
		}
	}
}

// TestLookTakes: where a thread takes something it looks if it has not just done
// so, or is known to be too far ahead. Elsewhere it may be further ahead, and
// where it holds a lock; then it looks as soon as it takes something.
func TestLookTakes(t *testing.T) {
	takes := func(c *clocked, times int) {
		for range times {
			c.CallTo(probetest.CodeAt + TakesEntry)
		}
		if sig := c.run(t); sig != 0 {
			t.Fatal(sig)
		}
	}
	var c *clocked
	fewest := uint64(3)
	for range 20 { // if somebody else had the core between two, the first is no longer just now
		c = newClocked()
		takes(c, 3)
		fewest = min(fewest, uint64(c.own.Looks()))
	}
	if fewest != 1 {
		t.Errorf("%d looks, want one", fewest)
	}
	for _, locks := range []uint32{0, 1} {
		c = newClocked()
		last := c.clocks.Entry(1)
		last.SetActive(true)
		c.clocks.SetBound(1000)
		c.clocks.SetWorth(0, 1, 1)
		c.count(0, 9000)
		*c.area.half(OffLocks) = locks
		c.look(t, 1)
		if owes := *c.area.half(OffOwes); c.own.Held() || owes != 1 {
			t.Errorf("%d locks: held %v, owes %d; want false, 1", locks, c.own.Held(), owes)
		}
		if locks > 0 {
			c.mem = c.out.Memory
			takes(c, 1)
			if owes := *c.area.half(OffOwes); c.own.Held() || owes != 1 || c.own.Looks() < 2 {
				t.Errorf("takes another: held %v, owes %d after %d looks; want false, 1, 2", c.own.Held(), owes, c.own.Looks())
			}
		}
	}
}

// TestLookWoke: who has done what others may wake by says when that was before it takes
// anything, however short ago it looked last, and does not say later that it was later.
func TestLookWoke(t *testing.T) {
	const told = ^uint32(0x40000000) + 1 // as the recorder says it
	for fuel, want := range map[uint32]int64{told: 9050, 77: 0} {
		c := newClocked()
		c.clocks.SetWorth(0, 1, 1)
		c.count(0, 9000)
		c.area.put(offLast, 9000) // it has asked just now
		c.CallTo(probetest.CodeAt + TakesEntry)
		c.MovGS32(OffFuel, fuel)
		c.CallTo(probetest.CodeAt + TakesEntry)
		c.IncGS(CounterOffset(0))
		c.look(t, 1) // though nobody has looked for others yet, it is not now that they woke
		if woke := c.own.Woke(); woke != want || c.own.Woke() != 0 || c.own.Held() {
			t.Errorf("fuel %#x: others may have woken at %d, want %d; held %v", fuel, woke, want, c.own.Held())
		}
	}
}

// TestLookSpins: who has done nothing twice is not waited for, until it works;
// then it is where the others are. Who was told to look may have had no processor,
// as a new thread is.
func TestLookSpins(t *testing.T) {
	for looks := range 4 {
		c := newClocked()
		c.look(t, looks)
		if told := looks < 3; c.own.Active() != told {
			t.Errorf("after %d looks without work: active %v", looks, !told)
		}
	}
	c := newClocked()
	c.clocks.SetWorth(0, 1, 1)
	c.count(0, 10)
	*c.own.common.half(c.own.at + entryActive) = 2 // it spins
	*c.area.half(OffFuel) = 0
	c.clocks.SetBound(5000)
	c.look(t, 1)
	if !c.own.Active() || c.own.Clock() != 5000-testQuantum {
		t.Errorf("active %v at %d, want true at %d", c.own.Active(), c.own.Clock(), 5000-testQuantum)
	}
}

// TestLookSpunBetween: a piece of work between looks where a thread takes something is
// none of its spinning; a look at what it cannot take is.
func TestLookSpunBetween(t *testing.T) {
	for _, x := range []struct {
		work   int64
		paused uint32
		active bool
	}{{testQuantum, 0, true}, {testQuantum / 64, 0, false}, {testQuantum, 1, false}} {
		c := newClocked()
		c.clocks.SetWorth(0, 1, 1)
		c.count(0, x.work)
		*c.own.common.half(c.own.at + entryActive) = 2 // it spins
		*c.area.half(offIdle), *c.area.half(OffPaused) = 1, x.paused
		c.CallTo(probetest.CodeAt + TakesEntry)
		if sig := c.run(t); sig != 0 {
			t.Fatal(sig)
		}
		if idle := *c.area.half(offIdle) != 0; c.own.Active() != x.active || idle == x.active {
			t.Errorf("%+v: active %v, idle %v", x, c.own.Active(), idle)
		}
	}
}

// TestLookAway: time in code without counters counts, in code with some these do.
func TestLookAway(t *testing.T) {
	for away, want := range map[int64]int64{5000: 5050, 150: 150} {
		c := newClocked()
		c.clocks.SetWorth(0, 1, 1)
		c.count(0, 100)
		c.own.SetAway(away)
		c.look(t, 1)
		if c.own.Clock() != want || c.own.Away() != 0 {
			t.Errorf("%d away: at %d, %d away; want %d", away, c.own.Clock(), c.own.Away(), want)
		}
	}
}

// TestLookApart: a thread without a clock does not look again.
func TestLookApart(t *testing.T) {
	p := newProcess(1 << 63)
	p.CallTo(probetest.CodeAt + LookEntry)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	if *p.area.half(OffFuel) < 1<<31-2 {
		t.Errorf("it looks again in %d passes", *p.area.half(OffFuel))
	}
}

// TestLookOffsetsAgree compares look.S's offsets with those here.
func TestLookOffsetsAgree(t *testing.T) {
	src, err := os.ReadFile("look.S")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"COUNTERS": offCounters, "LIVE": offLive, "NLIVE": offNLive, "FUEL": OffFuel, "GIVEN": offGiven, "BASE": offBase, "OWN": offOwn,
		"ENTRY": offEntry, "TABLE": offTable, "WORTHS": offWorths, "PENDING": offPending, "PAUSED": OffPaused, "IDLE": offIdle, "LASTASK": offLast, "LOCKS": OffLocks, "OWES": OffOwes, "ALONE": OffAlone, "BOUND": clockBound, "USED": clockUsed,
		"QUANTUM": clockQuantum, "ASKED": clockAsked, "FREE": clockFree, "ENTRIES": clockEntries, "CLOCK": entryClock, "HELD": entryHeld,
		"ACTIVE": entryActive, "LOOKS": entryLooks, "AWAY": entryAway, "UNTIL": entryUntil, "SLEPT": entrySlept, "WOKE": entryWoke, "RESTS": entryRests, "EACH": entrySize}
	for _, m := range regexp.MustCompile(`\.set (\w+),\s*(\w+)`).FindAllStringSubmatch(string(src), -1) {
		v, _ := strconv.ParseInt(m[2], 0, 64)
		if w, ok := want[m[1]]; ok && v != w {
			t.Errorf("%s is %#x in look.S, %#x in Go", m[1], v, w)
		}
		delete(want, m[1])
	}
	for name := range want {
		t.Errorf("%s is not in look.S", name)
	}
	if Recorder[LookEnd] != 0xc3 {
		t.Error("look does not end at LookEnd")
	}
}

// TestLookSays: who leaves a goroutine says its clock and is not held, however far it is;
// what the goroutine has done in a loop that a register counts for, and has not counted
// yet, is in it. When it looks elsewhere it has been counted.
func TestLookSays(t *testing.T) {
	c := newClocked()
	last := c.clocks.Entry(1)
	last.SetActive(true)
	c.clocks.SetBound(1000)
	c.clocks.SetWorth(0, 3, 1)
	c.clocks.SetWorth(1, 10, 4)
	c.count(0, 9000)
	c.count(1, -5)
	c.area.Pend(c.clocks, []record.Delta{{Counter: 1, N: 405}}) // from −5 to 400
	*c.area.half(OffFuel) = 77
	c.CallTo(probetest.CodeAt + SaysEntry)
	if sig := c.run(t); sig != 0 {
		t.Fatal(sig)
	}
	at := c.own.Clock()
	if want := int64(50 + 27000 + 1000); at > want || at < want-20 || c.own.Held() || c.own.Looks() != 1 || *c.area.half(OffFuel) != 77 {
		t.Errorf("at %d, held %v, %d looks, %d passes left", at, c.own.Held(), c.own.Looks(), *c.area.half(OffFuel))
	}
	c.mem = c.out.Memory
	c.count(1, 400)
	c.clocks.SetBound(1 << 40)
	c.CallTo(probetest.CodeAt + GoesEntry) // as it is gone on with: nothing new
	c.run(t)
	if c.area.get(offPending) == 0 {
		t.Error("what it lacks is forgotten before it looks elsewhere")
	}
}

// TestLookRests: who waits in a runtime says its clock; where it was found to spin it is, when
// it works again, the time of the last one who does, and what it does comes on top.
func TestLookRests(t *testing.T) {
	c := newClocked()
	c.clocks.SetWorth(0, 3, 1)
	c.count(0, 9000)
	c.CallTo(probetest.CodeAt + WorksEntry) // who has not rested
	c.CallTo(probetest.CodeAt + RestsEntry)
	if sig := c.run(t); sig != 0 {
		t.Fatal(sig)
	}
	if !c.own.Rests() || !c.own.Active() || c.own.Held() || c.own.Clock() <= 50 {
		t.Errorf("rests %v: active %v, held %v, at %d", c.own.Rests(), c.own.Active(), c.own.Held(), c.own.Clock())
	}
	at := c.own.Clock()
	c.mem = c.out.Memory
	c.own.Spins()
	c.clocks.SetBound(100_000 + testQuantum)
	c.CallTo(probetest.CodeAt + WorksEntry)
	c.run(t)
	if c.own.Rests() || !c.own.Active() || c.own.Clock() != 100_000 {
		t.Errorf("works: active %v, at %d", c.own.Active(), c.own.Clock())
	}
	c.mem = c.out.Memory
	c.count(0, 9600)
	c.look(t, 1)
	if done := (at - 50) / 15; c.own.Clock() != 100_000+done { // a fifteenth of what it had done before
		t.Errorf("at %d when it has worked, want %d", c.own.Clock(), 100_000+done)
	}
}

// TestForward: what a thread has done since it woke, and has not said, is done from the
// time on to which its clock is put forward.
func TestForward(t *testing.T) {
	c := newClocked()
	c.clocks.SetWorth(0, 1, 1)
	c.count(0, 700)
	c.own.Forward(5000)
	c.own.Forward(4000)
	if c.own.Clock() != 5000 {
		t.Errorf("at %d", c.own.Clock())
	}
	c.look(t, 1)
	if c.own.Clock() != 5700 {
		t.Errorf("at %d, want 5700", c.own.Clock())
	}
}

// TestEnterMarks: the functions that a thread has entered first are told, where there
// are clocks, for their counters' worths.
func TestEnterMarks(t *testing.T) {
	p := newProcessOf(NewLayout([]Function{{Chords: 3, Sites: 1}, {Chords: 5, Sites: 3}}, 0).WithClocks(), 1<<63)
	clocks := p.area.common.Clocks(testQuantum)
	p.area.ownLive()
	p.area.Follow(clocks)
	p.PushImm32(1)
	p.CallTo(probetest.CodeAt + EnterEntry)
	if sig := p.run(t); sig != 0 {
		t.Fatal(sig)
	}
	if clocks.Enters() != 1 || clocks.LiveFrom(0, 3) || !clocks.LiveFrom(3, 5) {
		t.Errorf("%d entered, the first %v, the second %v", clocks.Enters(), clocks.LiveFrom(0, 3), clocks.LiveFrom(3, 5))
	}
}
