package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

var gateIn, gateOut = hookOf(record.Gate).Arrive, hookOf(record.Gate).Leave

// enters and leaves: a thread passes gate 3, with an object.
func (s *script) enters(id profile.ThreadID, object uint64, work ...uint64) {
	s.passes(id, gateIn, 3, object, work...)
}

func (s *script) leaves(id profile.ThreadID, work ...uint64) { s.passes(id, gateOut, 3, 0, work...) }

func (s *script) passes(id profile.ThreadID, kind uint32, gate, object uint64, work ...uint64) {
	r := record.Record{Kind: kind, TSC: s.tick(), Arg1: object, Arg3: gate, Site: 160 * gate}
	for c, n := range work {
		r.Delta = append(r.Delta, record.Delta{Counter: int32(c), N: n})
	}
	s.Record(id, r)
}

// TestGateRounds: nobody leaves before all have come, again and again. What is
// executed between the gates is no work; the last to come leaves first or not.
func TestGateRounds(t *testing.T) {
	s := newScript(1 << 20)
	verdict := map[uint64]bool{}
	s.Tracker.c.Gate = func(n uint64, of bool) { verdict[n] = of }
	threads(s, 3)
	for k := uint64(1); k <= 5; k++ {
		for id := profile.ThreadID(1); id <= 3; id++ {
			s.enters(id, 0, 10*k+uint64(id))
		}
		for id := profile.ThreadID(3); id >= 1; id-- {
			s.leaves(id, 1000)
		}
	}
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.dies(id, 7)
	}
	expect(t, s.Finish(), "barrier 480 [[11 12 13] [21 22 23] [31 32 33] [41 42 43] [51 52 53]]")
	if !verdict[3] || !IsGate(gateIn) || !IsGate(gateOut) || IsGate(join) {
		t.Errorf("gates of interest: %v", verdict)
	}
}

// TestGateOfFewRounds: what is undecided when a thread dies is decided then.
func TestGateOfFewRounds(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 3)
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.enters(id, 0, uint64(id))
	}
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.leaves(id, 1000)
		s.dies(id, 70)
	}
	s.at(0, join, 1, 320)
	s.at(0, join, 2, 320)
	s.at(0, join, 3, 320)
	expect(t, s.Finish(), "barrier 480 [[1 2 3]]", "join 320 [[70 70 70]]")
}

// TestLockIsNoMeeting: one leaves before another has come.
func TestLockIsNoMeeting(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	for k := uint64(1); k <= 5; k++ {
		s.enters(1, 9, 5)
		s.leaves(1)
		s.enters(2, 9, 5)
		s.enters(1, 9, 5)
		s.leaves(2)
		s.leaves(1)
	}
	s.dies(1)
	s.dies(2)
	expect(t, s.Finish(), "threads 0 [[50 25]]")
}

// TestQueueForLockIsNoMeeting: all wait for a lock all the time, and have it in turn.
func TestQueueForLockIsNoMeeting(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	s.enters(1, 9)
	for k := 0; k < 20; k++ {
		s.enters(2, 9, 1)
		s.leaves(1)
		s.enters(1, 9, 1)
		s.leaves(2)
	}
	s.dies(1)
	s.dies(2)
	expect(t, s.Finish(), "threads 0 [[20 20]]")
}

// TestPairsInOrder: two meet, and the first to come is the first to leave each
// time. It is a barrier where both have left before one comes again, or where the
// last to come, who does not wait, or wakes the first, lets that go; at a lock
// both wait for somebody else.
func TestPairsInOrder(t *testing.T) {
	const rounds = 12
	for _, c := range []struct {
		name         string
		queues       bool // the first comes again before the other one has left
		waits, wakes bool // the other one
		meets        bool
		elsewhere    profile.Addr // it does so at another line
	}{
		{name: "both leave", meets: true},
		{name: "let go", queues: true, meets: true},
		{name: "woken", queues: true, waits: true, wakes: true, meets: true},
		{name: "queue", queues: true, waits: true},
		{name: "let go, and off its core", queues: true, waits: true, elsewhere: 8, meets: true},
	} {
		s := newScript(1 << 20)
		threads(s, 2)
		passed := false
		for range rounds + 2 {
			s.enters(1, 9, 1)
			from := s.now
			if passed && c.queues {
				s.leaves(2)
			}
			s.now += 50000
			came := s.now
			s.enters(2, 9, 1)
			if c.wakes {
				s.wakes(2, letGo, came+20, came+25, 1)
			}
			s.now += 50000
			s.sleeps(1, profile.WaitCondition, from+5, s.now)
			if c.waits {
				s.Record(2, record.Record{TSC: s.now, Wait: &record.Wait{Kind: profile.WaitCondition, Site: 640 + c.elsewhere, Begin: came + 30, Object: 77}})
			}
			s.leaves(1)
			if passed = true; !c.queues {
				s.leaves(2)
			}
		}
		s.dies(1)
		s.dies(2)
		got := s.Finish()
		if is := len(got) > 0 && got[0].Kind == profile.Barrier; is != c.meets {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestDispatcherWaitsBesideIdle: who hands out work waits for all it has created in the
// function in which the idle ones wait for it. One of them is there in each round, and
// another one lets their creator go on: they have not met. Where the one that is there
// lets it go, they have.
func TestDispatcherWaitsBesideIdle(t *testing.T) {
	for waker, meets := range map[profile.ThreadID]bool{1: true, 2: false} {
		for _, rounds := range []int{2, 5, 20} {
			s := newScript(1 << 20)
			threads(s, 2)
			for range rounds {
				s.enters(1, 0, 1)
				s.enters(0, 0, 1)
				from := s.now
				s.now += 50000
				s.wakes(waker, letGo, s.now-20, s.now-15, 1)
				s.sleeps(0, profile.WaitCondition, from+5, s.now)
				s.leaves(0)
				s.leaves(1)
			}
			s.dies(1)
			s.dies(2)
			got := s.Finish()
			if is := len(got) > 0 && got[0].Kind == profile.Barrier; is != meets {
				t.Errorf("%d lets it go, %d rounds: %v", waker, rounds, got)
			}
		}
	}
}

// TestGroupsByObject: two teams meet on their own, at two objects.
func TestGroupsByObject(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 4)
	for k := uint64(1); k <= 4; k++ {
		s.enters(1, 5, k)
		s.enters(3, 6, 3*k)
		s.enters(2, 5, 2*k)
		s.leaves(2)
		s.leaves(1)
		s.enters(4, 6, 4*k)
		s.leaves(4)
		s.leaves(3)
	}
	expect(t, s.Finish(), "barrier 480 [[1 2] [3 4] [2 4] [6 8] [3 6] [9 12] [4 8] [12 16]]")
}

// meetsAtGate: the first n threads come to a gate, the last one first out.
func (s *script) meetsAtGate(n profile.ThreadID, work uint64) {
	for id := profile.ThreadID(1); id <= n; id++ {
		s.enters(id, 0, work)
	}
	for id := n; id >= 1; id-- {
		s.leaves(id)
	}
}

// TestDroppedOut: of a meeting that is known some may stay away for good.
func TestDroppedOut(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 3)
	for k := uint64(1); k <= 6; k++ {
		n := profile.ThreadID(3)
		if k > 4 {
			n = 2
		}
		s.meetsAtGate(n, k)
	}
	expect(t, s.Finish(), "barrier 480 [[1 1 1] [2 2 2] [3 3 3] [4 4 4] [5 5] [6 6]]")
}

// TestDroppedOutByEnding: who does its share in a round and ends instead of
// meeting the others is in it, whether it ends before they leave or behind that.
func TestDroppedOutByEnding(t *testing.T) {
	for _, late := range []bool{false, true} {
		s := newScript(1 << 20)
		threads(s, 3)
		for k := uint64(1); k <= 6; k++ {
			n := profile.ThreadID(3)
			if k > 4 {
				n = 2
			}
			if k == 5 && !late {
				s.dies(3, 5)
			}
			s.meetsAtGate(n, k)
			if k == 5 && late {
				s.dies(3, 5)
			}
		}
		s.at(0, join, 1, 320)
		s.at(0, join, 2, 320)
		s.at(0, join, 3, 320)
		s.dies(1, 7)
		s.dies(2, 8)
		expect(t, s.Finish(), "barrier 480 [[1 1 1] [2 2 2] [3 3 3] [4 4 4] [5 5 5] [6 6]]", "join 320 [[7 8 0]]")
	}
}

// TestDroppedOutAndEndsLate: so it is if it waits for a core before it ends; but
// not if it did more than there was time for in that round.
func TestDroppedOutAndEndsLate(t *testing.T) {
	for _, c := range []struct {
		worked int64
		want   []string
	}{
		{20, []string{"barrier 480 [[1 1 1] [2 2 2] [3 3 3] [4 4 4] [5 5 5] [6 6] [7 7]]", "join 320 [[7 8 0]]"}},
		{300000, []string{"barrier 480 [[1 1 1] [2 2 2] [3 3 3] [4 4 4] [5 5] [6 6] [7 7]]", "join 320 [[7 8 5]]"}},
	} {
		s := newScript(1 << 20)
		threads(s, 3)
		born, left := s.now, uint64(0)
		for k := uint64(1); k <= 7; k++ {
			n := profile.ThreadID(3)
			if k > 4 {
				n = 2
			} else if k == 4 {
				left = s.now
			}
			s.meetsAtGate(n, k)
		}
		s.now += 400000
		s.Died(3, s.tick(), int64(left-born)+c.worked, []record.Delta{{N: 5}}, 0)
		s.at(0, join, 1, 320)
		s.at(0, join, 2, 320)
		s.at(0, join, 3, 320)
		s.dies(1, 7)
		s.dies(2, 8)
		expect(t, s.Finish(), c.want...)
	}
}

// TestGateInGate: the code inside is passed as often as the one around it, or
// more often: then that is none.
func TestGateInGate(t *testing.T) {
	for _, c := range []struct {
		inner int
		want  string
	}{{1, "barrier 640 [[1 2] [2 4] [3 6] [4 8]]"}, {20, "barrier 480"}} {
		s := newScript(1 << 20)
		threads(s, 2)
		for k := uint64(1); k <= 4; k++ {
			s.passes(1, gateIn, 4, 0, k)
			s.passes(2, gateIn, 4, 0, 2*k)
			for range c.inner {
				s.enters(1, 0, 1)
				s.enters(2, 0, 2)
				s.leaves(2)
				s.leaves(1)
			}
			s.passes(2, gateOut, 4, 0)
			s.passes(1, gateOut, 4, 0)
		}
		got := s.Finish()
		if c.inner == 1 {
			expect(t, got, c.want)
		} else if len(got) != 1 || got[0].Site != 480 || len(got[0].Instances) < 70 {
			t.Errorf("sections %v", got)
		}
	}
}

// TestGateBesideBarrier: what another rule makes a part of is none of the
// gate's. Before the gate is known to be a meeting its rounds are in the
// barrier's parts; nothing is in both.
func TestGateBesideBarrier(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
	for i := 1; i <= 2; i++ {
		s.creates(0, 64)
		s.born(profile.ThreadID(i), 0)
	}
	for k := uint64(1); k <= 4; k++ {
		s.at(1, barrierWait, 7, 160, k)
		s.at(2, barrierWait, 7, 160, 2*k)
		s.at(1, barrierLeft, 7, 160)
		s.at(2, barrierLeft, 7, 160)
		s.enters(1, 0, 10*k)
		s.enters(2, 0, 20*k)
		s.leaves(2)
		s.leaves(1)
	}
	expect(t, s.Finish(), "barrier 160 [[1 2] [12 24] [23 46] [4 8]]", "barrier 480 [[30 60] [40 80]]")
}

// TestGateThatIsTakenBack: what looked like a meeting is none when threads keep
// leaving before others have come.
func TestGateThatIsTakenBack(t *testing.T) {
	for _, c := range []struct {
		wrong int
		want  []string
	}{
		{2, []string{"barrier 480 [[1 1 1] [1 1 1] [1 1 1] [1 1 1]]", "join 320 [[0 0 0]]"}},
		{4, []string{"join 320 [[8 4 4]]"}},
	} {
		s := newScript(1 << 20)
		threads(s, 3)
		for range 4 {
			for id := profile.ThreadID(1); id <= 3; id++ {
				s.enters(id, 0, 1)
			}
			for id := profile.ThreadID(3); id >= 1; id-- {
				s.leaves(id)
			}
		}
		for range c.wrong {
			s.enters(1, 0, 1)
			s.leaves(1)
		}
		for id := profile.ThreadID(1); id <= 3; id++ {
			s.dies(id)
		}
		for id := profile.ThreadID(1); id <= 3; id++ {
			s.at(0, join, uint64(id), 320)
		}
		expect(t, s.Finish(), c.want...)
	}
}

// TestTwoGatesInTurn: two places of meeting in each round. Which is known first
// makes no difference: what is done before the one is in no part of the other's.
func TestTwoGatesInTurn(t *testing.T) {
	for _, c := range []struct {
		rounds uint64
		half   bool // the last round has the first place only
		want   []string
	}{
		{rounds: 5, want: []string{"barrier 480 [[11 12 13] [21 22 23] [31 32 33] [41 42 43] [51 52 53]]", "barrier 640 [[100 200 300] [200 400 600] [300 600 900] [400 800 1200] [500 1000 1500]]", "join 320 [[7 7 7]]"}},
		{rounds: 2, want: []string{"barrier 480 [[11 12 13] [21 22 23]]", "barrier 640 [[100 200 300] [200 400 600]]", "join 320 [[7 7 7]]"}},
		{rounds: 3, half: true, want: []string{"barrier 480 [[11 12 13] [21 22 23] [31 32 33]]", "barrier 640 [[100 200 300] [200 400 600]]", "join 320 [[7 7 7]]"}},
	} {
		s := newScript(1 << 20)
		threads(s, 3)
		all := func(gate uint64, work func(id uint64) uint64) {
			for id := profile.ThreadID(1); id <= 3; id++ {
				s.passes(id, gateIn, gate, 0, work(uint64(id)))
			}
			for id := profile.ThreadID(3); id >= 1; id-- {
				s.passes(id, gateOut, gate, 0, 1000)
			}
		}
		for k := uint64(1); k <= c.rounds; k++ {
			all(3, func(id uint64) uint64 { return 10*k + id })
			if k < c.rounds || !c.half {
				all(4, func(id uint64) uint64 { return 100 * k * id })
			}
		}
		for id := profile.ThreadID(1); id <= 3; id++ {
			s.dies(id, 7)
		}
		for id := uint64(1); id <= 3; id++ {
			s.at(0, join, id, 320)
		}
		expect(t, s.Finish(), c.want...)
	}
}
