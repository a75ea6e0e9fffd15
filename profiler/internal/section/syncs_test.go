package section

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestSyncs: each wait that another thread has ended is kept with when that was, in
// order of time; one that nobody is known to have ended is not, nor is one of the meeting.
func TestSyncs(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	s.Record(1, record.Record{Kind: barrierInit, TSC: 100, Arg1: 7, Arg3: 2})
	s.sleeps(1, profile.WaitLock, 10_000, 50_000)
	s.wakes(2, letGo, 40_000, 41_000, 1)
	s.sleeps(1, profile.WaitCondition, 60_000, 90_000)
	s.wakes(2, letGo, 80_000, 81_000, 1)
	s.sleeps(1, profile.WaitCondition, 100_000, 120_000)
	for id := profile.ThreadID(1); id <= 2; id++ {
		s.Record(id, record.Record{Kind: barrierWait, TSC: 200_000 + uint64(id), Arg1: 7, Site: 160})
	}
	s.sleeps(1, profile.WaitBarrier, 200_100, 290_000)
	list := s.Finish()
	if len(list) != 1 {
		t.Fatalf("sections %+v", list)
	}
	want := []profile.Sync{
		{Kind: profile.WaitLock, Site: 640, BeginNS: 10_000, EndNS: 50_000, Thread: 2, WakeNS: 40_000},
		{Kind: profile.WaitCondition, Site: 640, BeginNS: 60_000, EndNS: 90_000, Thread: 2, WakeNS: 80_000},
	}
	if got := list[0].Instances[0].Parts[0].Syncs; !reflect.DeepEqual(got, want) {
		t.Errorf("waits %+v, want %+v", got, want)
	}
}

// TestManySyncs: those of a long part are kept up to a bound, also where its waits are
// added up on the way; who ended each is known, though the calls that did are forgotten.
func TestManySyncs(t *testing.T) {
	const n = maxSyncs/16 + 2*maxWaits
	s := newScript(1 << 20)
	threads(s, 2)
	s.Record(1, record.Record{Kind: barrierInit, TSC: 100, Arg1: 7, Arg3: 2})
	for i := range uint64(n) {
		s.wakes(2, letGo, 30_000*i+29_000, 30_000*i+29_500, 1)
		s.sleeps(1, profile.WaitCondition, 30_000*i+10_000, 30_000*i+29_200)
	}
	for id := profile.ThreadID(1); id <= 2; id++ {
		s.Record(id, record.Record{Kind: barrierWait, TSC: 30_000*n + uint64(id), Arg1: 7, Site: 160})
	}
	got := s.Finish()[0].Instances[0].Parts[0].Syncs
	if len(got) < maxSyncs/16 || len(got) > maxSyncs/16+maxWaits {
		t.Fatalf("%d of %d waits are kept", len(got), n)
	}
	for i, x := range got {
		if x.BeginNS%30_000 != 10_000 || x.WakeNS-x.BeginNS != 19_000 || i > 0 && x.BeginNS-got[i-1].BeginNS != 30_000 {
			t.Fatalf("wait %d: %+v", i, x)
		}
	}
}
