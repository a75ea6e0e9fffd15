package section

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

const word7, letGo, other = 7000, 888, 999

// sleeps gives a thread the record of a wait on a word.
func (s *script) sleeps(id profile.ThreadID, k profile.WaitKind, begin, end uint64) {
	s.Record(id, record.Record{TSC: end, Wait: &record.Wait{Kind: k, Site: 640, Begin: begin, Object: word7}})
}

// wakes gives a thread the record of a call that woke others.
func (s *script) wakes(id profile.ThreadID, site profile.Addr, begin, end uint64, n int) {
	s.Record(id, record.Record{TSC: end, Wait: &record.Wait{Site: site, Begin: begin, Object: word7, Wakes: n}})
}

// meetOf3 lets threads 1 to 3 meet, and returns who ended their waits before.
func meetOf3(t *testing.T, kind profile.WaitKind, before func(*script)) (ended [][]profile.Wake) {
	t.Helper()
	s := newScript(1 << 20)
	threads(s, 3)
	s.Record(1, record.Record{Kind: barrierInit, TSC: 100, Arg1: 7, Arg3: 3})
	before(s)
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.Record(id, record.Record{Kind: barrierWait, TSC: 1<<40 + uint64(id), Arg1: 7, Site: 160})
	}
	list := s.Finish()
	if len(list) != 1 || len(list[0].Instances) != 1 {
		t.Fatalf("sections %+v", list)
	}
	for _, q := range list[0].Instances[0].Parts {
		for i := range q.Wakes {
			if w := &q.Wakes[i]; w.Kind != kind || w.Site != 640 {
				t.Errorf("a wait by %s at %d", w.Kind, w.Site)
			} else {
				w.Kind, w.Site = "", 0
			}
		}
		ended = append(ended, q.Wakes)
	}
	return ended
}

func check(t *testing.T, got [][]profile.Wake, want ...[]profile.Wake) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("waits were ended by %v, want %v", got, want)
	}
}

// TestLockIsHeld: who waits for a lock does so for all that held it meanwhile,
// from where they got it up to where they let go; then for a core. The last
// one's call may return late.
func TestLockIsHeld(t *testing.T) {
	got := meetOf3(t, profile.WaitLock, func(s *script) {
		s.wakes(1, letGo, 100000, 101000, 1)
		s.sleeps(2, profile.WaitLock, 50000, 110000)
		s.wakes(2, other, 140000, 170000, 1)
		s.sleeps(3, profile.WaitLock, 60000, 160000)
		s.wakes(3, other, 200000, 200500, 1) // wakes nobody that is known
	})
	check(t, got, nil,
		[]profile.Wake{{By: letGo, Thread: 1, NS: 50000}},
		[]profile.Wake{{By: letGo, Thread: 1, NS: 40000}, {By: other, Thread: 2, NS: 30000}})
}

// TestWakesInTurn: those who wait longest are woken first, by as many wakes as
// there were; a wake from before the wait has not ended it.
func TestWakesInTurn(t *testing.T) {
	got := meetOf3(t, profile.WaitCondition, func(s *script) {
		s.wakes(1, other, 10000, 11000, 1)
		s.wakes(1, letGo, 100000, 101000, 1)
		s.wakes(1, other, 120000, 121000, 1)
		s.sleeps(3, profile.WaitCondition, 60000, 130000)
		s.sleeps(2, profile.WaitCondition, 50000, 140000)
	})
	check(t, got, nil, []profile.Wake{{By: letGo, Thread: 1, NS: 50000}}, []profile.Wake{{By: other, Thread: 1, NS: 60000}})
}

// TestWakesAll: one call may wake everybody.
func TestWakesAll(t *testing.T) {
	got := meetOf3(t, profile.WaitCondition, func(s *script) {
		s.wakes(1, letGo, 100000, 101000, 2)
		s.sleeps(2, profile.WaitCondition, 50000, 110000)
		s.sleeps(3, profile.WaitCondition, 60000, 160000)
		s.sleeps(3, profile.WaitCondition, 170000, 190000) // nobody is known to have ended it
	})
	check(t, got, nil, []profile.Wake{{By: letGo, Thread: 1, NS: 50000}}, []profile.Wake{{By: letGo, Thread: 1, NS: 40000}})
}

// TestManyWakes: what is remembered is bounded, and what was folded is kept.
func TestManyWakes(t *testing.T) {
	const n = 3*maxWakes + 5
	got := meetOf3(t, profile.WaitCondition, func(s *script) {
		for i := range uint64(n) {
			s.wakes(1, letGo, 30000*i+29000, 30000*i+29500, 1)
			s.sleeps(2, profile.WaitCondition, 30000*i+10000, 30000*i+29200)
			s.Record(1, record.Record{TSC: 30000*i + 29600, Wait: &record.Wait{Begin: 30000*i + 29550, Object: 8 * i, Wakes: 1}})
		}
		s.Advance(30000 * n)
		if len(s.words) > maxWords || len(s.words[word7].wakes) > maxWakes || len(s.words[word7].waits) > maxWakes {
			t.Errorf("%d words are kept, of one %d wakes", len(s.words), len(s.words[word7].wakes))
		}
	})
	if len(got[1]) != 1 || got[1][0].NS != 19000*n {
		t.Errorf("of %d waits %v were ended", n, got[1])
	}
}
