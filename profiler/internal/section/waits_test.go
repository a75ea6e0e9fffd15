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
	x.tick(&record.Record{TSC: 10000, CPUNS: 5000}, 1)
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

// TestPageFaults are waits of the part that they come in, however late they are
// told of, and no busy time.
func TestPageFaults(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	barrier := func(id profile.ThreadID, kind uint32, tsc uint64, cpu int64) {
		s.Record(id, record.Record{Kind: kind, TSC: tsc, Arg1: 7, Site: 160, CPUNS: cpu})
	}
	fault := func(id profile.ThreadID, begin, end uint64, ns int64, n int) {
		s.Record(id, record.Record{TSC: end, Wait: &record.Wait{Kind: profile.WaitFault, Site: 320, Begin: begin, NS: ns, N: n}})
	}
	s.Record(1, record.Record{Kind: barrierInit, TSC: 100, Arg1: 7, Arg3: 2})
	for round := range uint64(2) {
		now := 100000 * round
		fault(1, now+10000, now+20000, 4000, 17) // told of in its place
		for id := range profile.ThreadID(2) {
			barrier(id+1, barrierWait, now+90000+uint64(id), int64(now)+80000)
			barrier(id+1, barrierLeft, now+95000+uint64(id), int64(now)+80001)
		}
		fault(2, now+30000, now+31000, 1000, 2) // and of what is handled later than what came behind it
	}
	list := s.Finish()
	if len(list) != 1 || len(list[0].Instances) != 2 {
		t.Fatalf("sections %+v", list)
	}
	for i := range list[0].Instances {
		for k, q := range list[0].Instances[i].Parts {
			want := [][]profile.Wait{{{Kind: profile.WaitFault, Site: 320, NS: 4000, N: 17}}, {{Kind: profile.WaitFault, Site: 320, NS: 1000, N: 2}}}[k]
			if !reflect.DeepEqual(q.Waits, want) {
				t.Errorf("instance %d, thread %d: waited %v, want %v", i, q.Thread, q.Waits, want)
			}
			if all := int64(80000) + 19999*int64(i); q.Timed && q.BusyNS != all-want[0].NS {
				t.Errorf("instance %d, thread %d: busy for %d, want %d", i, q.Thread, q.BusyNS, all-want[0].NS)
			}
		}
	}
}

// TestOrderOfFaults: page faults go to their place among what a thread did, and
// nothing else does.
func TestOrderOfFaults(t *testing.T) {
	var q streams
	x := newThread(1, nil, 0)
	add := func(tsc uint64, fault bool) {
		i := item{tsc: tsc}
		if fault {
			i.rec.Wait = &record.Wait{Kind: profile.WaitFault}
		}
		q.add(x.stream, &i)
	}
	other := newThread(2, nil, 0)
	q.add(other.stream, &item{tsc: 45})
	for _, tsc := range []uint64{50, 70, 60, 90} {
		add(tsc, false)
	}
	for _, tsc := range []uint64{95, 65, 40, 90} {
		add(tsc, true)
	}
	add(92, false)
	var got []uint64
	for x, i := q.next(1000); x != nil; x, i = q.next(1000) {
		got = append(got, i.tsc)
	}
	if want := []uint64{40, 45, 50, 70, 60, 65, 90, 90, 92, 95}; !reflect.DeepEqual(got, want) {
		t.Errorf("in the order %v, want %v", got, want)
	}
}

// TestWaitOfAJoin: where a thread waits at the call by which it joins another one,
// that is what it waits for, whatever function of the library's does so.
func TestWaitOfAJoin(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	s.creates(1, 64)
	s.born(3, 1)
	s.sleeps(1, profile.WaitCondition, 10_000, 20_000) // before it has joined anybody
	s.Record(1, record.Record{Kind: join, TSC: 30_000, Arg1: 3, Site: 640})
	s.now = 50_000
	s.dies(3, 5)
	s.sleeps(1, profile.WaitCondition, 30_000, 50_000)
	s.now = 60_000
	s.dies(1, 5)
	s.dies(2, 5)
	s.at(0, join, 1, 320)
	s.at(0, join, 2, 320)
	s.dies(0)
	list := s.Finish()
	kinds := map[profile.WaitKind]int64{}
	for _, x := range list {
		for _, in := range x.Instances {
			for _, q := range in.Parts {
				for _, w := range q.Waits {
					kinds[w.Kind] += w.NS
				}
			}
		}
	}
	if len(list) != 1 || kinds[profile.WaitJoin] != 20_000 {
		t.Errorf("waits %v in %+v", kinds, list)
	}
}
