package section

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// waits gives a thread the record of a wait that ended at a moment.
func (s *script) waits(id profile.ThreadID, k profile.WaitKind, begin, end uint64, cpu int64) {
	s.Record(id, record.Record{TSC: end, CPUNS: cpu, Wait: &record.Wait{Kind: k, Site: 640, Begin: begin}})
}

// TestWaitsOfParts: a wait belongs to the part that it begins in; those in the
// barrier itself are the meeting's.
func TestWaitsOfParts(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	at := func(id profile.ThreadID, kind uint32, tsc uint64) {
		s.Record(id, record.Record{Kind: kind, TSC: tsc, Arg1: 7, Site: 160})
	}
	s.Record(1, record.Record{Kind: barrierInit, TSC: 100, Arg1: 7, Arg3: 2})
	s.waits(1, profile.WaitLock, 10000, 20000, 0)
	s.waits(1, profile.WaitLock, 30000, 41000, 0)
	s.waits(1, "", 50000, 80000, 0) // took long, and waited for nothing
	s.waits(1, profile.WaitLock, 81000, 82000, 0)
	at(1, barrierWait, 90000)
	s.waits(1, profile.WaitBarrier, 90100, 200000, 0) // in the barrier
	at(2, barrierWait, 199000)
	at(2, barrierLeft, 199500)
	at(1, barrierLeft, 200100)
	s.waits(2, profile.WaitSleep, 210000, 240000, 0)
	at(1, barrierWait, 250000)
	at(2, barrierWait, 260000)
	list := s.Finish()
	if len(list) != 1 || len(list[0].Instances) != 2 {
		t.Fatalf("sections %+v", list)
	}
	for i, want := range [][2][]profile.Wait{
		{{{Kind: profile.WaitLock, Site: 640, NS: 21000, N: 2}}, nil},
		{nil, {{Kind: profile.WaitSleep, Site: 640, NS: 30000, N: 1}}},
	} {
		for k, q := range list[0].Instances[i].Parts {
			if !reflect.DeepEqual(q.Waits, want[k]) {
				t.Errorf("instance %d, thread %d: waited %v, want %v", i, q.Thread, q.Waits, want[k])
			}
		}
	}
}

// TestWorkIsNoWait: what the system works in a call, by the thread's CPU
// clock, was not waited for.
func TestWorkIsNoWait(t *testing.T) {
	x := newThread(1, nil, 0)
	x.tick(record.Record{TSC: 10000, CPUNS: 5000}, 1)
	x.waited(&record.Wait{Kind: profile.WaitIO, Site: 8, Begin: 20000}, record.Record{TSC: 100000, CPUNS: 65000}, 1)
	x.waited(&record.Wait{Kind: profile.WaitIO, Site: 8, Begin: 110000}, record.Record{TSC: 200000, CPUNS: 164000}, 1)
	if len(x.waits) != 1 || x.waits[0].NS != 30000 {
		t.Errorf("waits %+v, want one of 30000 ns", x.waits)
	}
}

// TestManyWaits are added up in time.
func TestManyWaits(t *testing.T) {
	x := newThread(1, nil, 0)
	n := uint64(3*maxWaits + 5)
	for i := range n {
		x.waited(&record.Wait{Kind: profile.WaitLock, Site: profile.Addr(8 * (i % 2)), Begin: 20000 * i}, record.Record{TSC: 20000*i + 10000}, 1)
	}
	if len(x.waits) > maxWaits {
		t.Errorf("%d waits are kept", len(x.waits))
	}
	got, _ := sumWaits(x.waits, 0, ^uint64(0))
	if len(got) != 2 || uint64(got[0].N+got[1].N) != n || got[0].NS+got[1].NS != int64(10000*n) {
		t.Errorf("%d waits of 10000 ns add up to %v", n, got)
	}
}
