package section

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestSameCompany: threads that meet in several groups, while others work on,
// are known by meeting a third time in the same company; the meetings before
// were such ones too.
func TestSameCompany(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 4)
	for k := uint64(1); k <= 4; k++ {
		s.at(1, condWait, 9, 160, k)
		s.at(2, condWait, 9, 160, k)
		s.at(3, condBroadcast, 9, 160, k) // thread 4 works on
	}
	expect(t, s.Finish(), "barrier 160 [[1 1 1] [2 2 2] [3 3 3] [4 4 4]]")
}

// TestWaiterThatDies: nobody waits for a thread that has ended.
func TestWaiterThatDies(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 3)
	s.at(0, join, 1, 320)
	s.at(1, condWait, 9, 160, 3)
	s.at(2, condWait, 9, 160, 4)
	s.dies(1, 1) // cancelled while it waited
	s.at(3, condBroadcast, 9, 160, 5)
	expect(t, s.Finish(), "barrier 160 [[4 5]]")
}

// TestWakingWhereNobodyWaits is no meeting, nor is one who wakes itself.
func TestWakingWhereNobodyWaits(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	s.at(1, condBroadcast, 9, 160, 3)
	s.at(2, condWait, 9, 160, 3)
	s.at(2, condBroadcast, 9, 160, 3)
	s.at(1, condBroadcast, 9, 160, 3)
	expect(t, s.Finish())
}

// TestBusyTime: a part's busy time is by the thread's CPU clock; where that
// was not read, the thread cannot have been off its core since its record
// before.
func TestBusyTime(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	at := func(tsc uint64, kind uint32, cpu1, cpu2 int64) {
		s.Record(2, record.Record{Kind: kind, TSC: tsc, Arg1: 7, Site: 160, CPUNS: cpu2})
		s.Record(1, record.Record{Kind: kind, TSC: tsc, Arg1: 7, Site: 160, CPUNS: cpu1}) // at the same moment: the older thread is first
	}
	at(1000, barrierWait, 50, 90)
	at(1100, barrierLeft, 60, 0) // the second's clock is 190 then
	at(1500, barrierWait, 0, 200)
	at(1600, barrierLeft, 0, 0)
	at(1700, barrierWait, 0, 0)
	sections := s.Finish()
	if len(sections) != 1 || len(sections[0].Instances) != 2 {
		t.Fatalf("sections %+v", sections)
	}
	for i, want := range [][2]int64{{50, 90}, {400, 10}} {
		for k, p := range sections[0].Instances[i].Parts {
			if !p.Timed || p.BusyNS != want[k] {
				t.Errorf("instance %d: thread %d was busy for %d ns, not %d", i, p.Thread, p.BusyNS, want[k])
			}
		}
	}
}

// TestGoroutinesAtACondition: two goroutines meet there while who has made them receives
// something, or waits for a group.
func TestGoroutinesAtACondition(t *testing.T) {
	for _, waits := range []func(s *script){
		func(s *script) { s.at(0, goReceive, 99, 480) },
		func(s *script) { s.at(0, goWait, 7, 480) },
	} {
		s := newGoScript()
		s.born(0, -1)
		s.launches(1, 320)
		s.launches(2, 320)
		waits(s)
		for k := uint64(1); k <= 3; k++ {
			s.at(2, goCondWait, 9, 160, k)
			s.at(1, goBroadcast, 9, 160, 10*k)
		}
		expect(t, s.Finish(), "barrier 160 [[10 1] [20 2] [30 3]]")
	}
}

var goCondWait, goBroadcast = hookOf("sync.(*Cond).Wait").Arrive, hookOf("sync.(*Cond).Broadcast").Arrive

// TestBriefMeetings: goroutines that hardly do anything between meetings are of no
// interest; those of one line that do much are.
func TestBriefMeetings(t *testing.T) {
	for _, c := range []struct {
		busy uint64
		want int
	}{{1000, 0}, {100_000, 2 * manyBriefs}} {
		s := newGoScript()
		s.born(0, -1)
		s.launches(1, 320)
		s.launches(2, 320)
		s.at(0, goReceive, 99, 480)
		for range 2 * manyBriefs {
			s.now += c.busy
			s.at(2, goCondWait, 9, 160, 1)
			s.at(1, goBroadcast, 9, 160, 1)
		}
		n := 0
		for _, x := range s.Finish() {
			n += len(x.Instances)
		}
		if n != c.want {
			t.Errorf("busy for %d ns: %d meetings, want %d", c.busy, n, c.want)
		}
		if quiet := s.Unheard(160); quiet != (c.want == 0) || s.Unheard(161) {
			t.Errorf("busy for %d ns: unheard is %v", c.busy, quiet)
		}
	}
}

// TestBriefOfSeveral: a wait that another line has ended too goes on being heard.
func TestBriefOfSeveral(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	s.launches(1, 320)
	s.launches(2, 320)
	s.at(0, goReceive, 99, 480)
	for i := range 4 * manyBriefs {
		s.now += 1000
		s.at(2, goCondWait, 9, 160, 1)
		s.at(1, goBroadcast, 9, []uint64{160, 320}[i%2], 1)
	}
	s.Finish()
	if s.Unheard(160) {
		t.Error("a wait that two lines end is unheard")
	}
}
