package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestGoLocks: a goroutine waits for a lock from where it has to until it goes on, but for
// what it worked meanwhile, for those who have held it. What is short is no wait, nor what
// began nobody knows when.
func TestGoLocks(t *testing.T) {
	const mutex, lock, unlock = 7, 160, 224
	waits, got := hookOf("internal/sync.runtime_SemacquireMutex").Arrive, hookOf("internal/sync.runtime_SemacquireMutex").Leave
	wakes := hookOf("sync.runtime_Semrelease").Arrive
	s := newScriptOf4()
	at := func(id profile.ThreadID, kind uint32, tsc, site uint64, worked int64) {
		s.Record(id, record.Record{Kind: kind, TSC: tsc, CPUNS: worked, Arg1: mutex, Site: site})
	}
	at(4, got, 500, lock, 300)
	at(1, waits, 1000, lock, 500)
	at(2, waits, 20_000, lock, 9000)
	at(4, wakes, 50_000, unlock, 40_000)
	at(1, got, 61_000, lock, 500+1000) // it looked for a while whether the lock is free
	at(1, wakes, 90_000, unlock, 30_000)
	at(2, got, 95_000, lock, 9000)
	at(3, waits, 96_000, lock, 70_000)
	at(2, wakes, 97_000, unlock, 11_000)
	at(3, got, 98_000, lock, 70_000)
	s.now = 100_000
	list := s.joins4(t)
	parts := list[0].Instances[0].Parts
	for i, want := range []struct {
		ns    int64
		wakes []profile.Wake
	}{
		{59_000, []profile.Wake{{Kind: profile.WaitLock, Site: lock, By: unlock, Thread: 4, NS: 48_183}}},
		{75_000, []profile.Wake{{Kind: profile.WaitLock, Site: lock, By: unlock, Thread: 1, NS: 29_000}, {Kind: profile.WaitLock, Site: lock, By: unlock, Thread: 4, NS: 30_000}}},
		{}, {},
	} {
		p := parts[i]
		if want.ns == 0 {
			if len(p.Waits) > 0 {
				t.Errorf("goroutine %d has waited: %+v", i+1, p.Waits)
			}
			continue
		}
		if len(p.Waits) != 1 || p.Waits[0] != (profile.Wait{Kind: profile.WaitLock, Site: lock, NS: want.ns, N: 1}) {
			t.Errorf("goroutine %d: %+v", i+1, p.Waits)
		}
		check(t, [][]profile.Wake{p.Wakes}, want.wakes)
	}
	if s.Unheard(lock) || len(s.Doubts()) > 0 {
		t.Errorf("few waits are too many: %v", s.Doubts())
	}
}

// TestManyGoLocks: of very many waits no more are recorded, which is said.
func TestManyGoLocks(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	for range mostLocks {
		s.at(0, hookOf("sync.runtime_Semrelease").Arrive, 7, 224)
	}
	s.Finish()
	if d := s.Doubts(); !s.Unheard(224) || s.Unheard(160) || len(d) != 1 || d[0].Code != "waits" {
		t.Errorf("very many: %v", d)
	}
}
