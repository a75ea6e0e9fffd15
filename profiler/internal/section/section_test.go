package section

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Kinds of records, as the rules have them.
var (
	barrierInit   = hookOf("pthread_barrier_init").Arrive
	barrierWait   = hookOf("pthread_barrier_wait").Arrive
	barrierLeft   = hookOf("pthread_barrier_wait").Leave
	condWait      = hookOf("pthread_cond_wait").Arrive
	condBroadcast = hookOf("pthread_cond_broadcast").Arrive
	join          = hookOf("pthread_join").Arrive
	tryJoin       = hookOf("pthread_tryjoin_np").Arrive
	create        = hookOf("pthread_create").Arrive
)

func hookOf(function string) record.Hook {
	h, ok := Hook(function)
	if !ok {
		panic(function + " is not recorded")
	}
	return h
}

// script feeds a tracker with made-up threads: counter c is event c, and an
// event is one instruction.
type script struct {
	*Tracker
	now uint64
}

func newScript(maxBytes int) *script {
	sum := func(d []record.Delta) (n uint64) {
		for _, x := range d {
			n += x.N
		}
		return n
	}
	s := &script{}
	s.Tracker = New(Config{
		Solve: func(d []record.Delta) profile.Counts {
			var c profile.Counts
			for _, x := range d {
				c.Event, c.N = append(c.Event, profile.EventID(x.Counter)), append(c.N, x.N)
			}
			return c
		},
		Work:      sum,
		Line:      func(a profile.Addr) string { return fmt.Sprint(a / 16) }, // sixteen addresses a line
		NSPerTick: 1,
		MaxBytes:  maxBytes,
	})
	return s
}

func (s *script) tick() uint64 { s.now += 10; return s.now }

func (s *script) born(id, parent profile.ThreadID) { s.Born(id, parent, s.tick()) }

func (s *script) at(id profile.ThreadID, kind uint32, object, site uint64, work ...uint64) {
	r := record.Record{Kind: kind, TSC: s.tick(), Arg1: object, Site: site}
	for c, n := range work {
		if n > 0 {
			r.Delta = append(r.Delta, record.Delta{Counter: int32(c), N: n})
		}
	}
	s.Record(id, r)
}

func (s *script) dies(id profile.ThreadID, work ...uint64) {
	var d []record.Delta
	for c, n := range work {
		d = append(d, record.Delta{Counter: int32(c), N: n})
	}
	s.Died(id, s.tick(), 0, d, 0)
}

func (s *script) creates(id profile.ThreadID, start uint64) {
	s.Record(id, record.Record{Kind: create, TSC: s.tick(), Arg3: start})
}

// work returns the instructions of each part of each instance of a section.
func work(s profile.Section) (w [][]uint64) {
	for _, in := range s.Instances {
		var row []uint64
		for _, p := range in.Parts {
			n := uint64(0)
			for _, x := range p.Counts.N {
				n += x
			}
			row = append(row, n)
		}
		w = append(w, row)
	}
	return w
}

func expect(t *testing.T, got []profile.Section, want ...string) {
	t.Helper()
	var have []string
	for _, s := range got {
		have = append(have, fmt.Sprintf("%s %d %v", s.Kind, s.Site, work(s)))
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("sections\n%q\nwant\n%q", have, want)
	}
}

func threads(s *script, n int) {
	s.born(0, -1)
	for i := 1; i <= n; i++ {
		s.creates(0, 64)
		s.born(profile.ThreadID(i), 0)
	}
}

func TestBarrierOfKnownCount(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
	for i := 1; i <= 3; i++ {
		s.creates(0, 64)
		s.born(profile.ThreadID(i), 0)
	}
	// Three threads, two at a time: whoever comes, comes.
	s.at(1, barrierWait, 7, 160, 5)
	s.at(2, barrierWait, 7, 161, 6) // a copy of the call
	s.at(3, barrierWait, 7, 160, 1)
	s.at(1, barrierLeft, 7, 160)
	s.at(1, barrierWait, 7, 160, 9)
	s.at(2, barrierLeft, 7, 161)
	s.at(2, barrierWait, 7, 160, 4) // never met
	expect(t, s.Finish(), "barrier 160 [[5 6] [9 1]]")
}

func TestBarrierOfUnknownCount(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	for k := uint64(1); k <= 3; k++ {
		s.at(1, barrierWait, 7, 160, k)
		s.at(2, barrierWait, 7, 160, 10*k)
		s.at(1, barrierLeft, 7, 160)
		s.at(2, barrierLeft, 7, 160)
	}
	// The third meeting is not known to be complete.
	expect(t, s.Finish(), "barrier 160 [[1 10] [2 20]]")
}

func TestBarrierMadeByHand(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 3)
	s.at(0, join, 0, 320) // waits for a thread's end: not expected at the barrier
	s.at(1, condWait, 9, 160, 3)
	s.at(2, condWait, 9, 160, 4)
	s.at(1, condWait, 9, 160, 1) // woke too early: has arrived once
	s.at(3, condBroadcast, 9, 160, 8)
	s.at(1, condWait, 9, 160, 2)
	s.at(3, condWait, 9, 160, 2)
	s.at(2, condBroadcast, 9, 160, 2)
	expect(t, s.Finish(), "barrier 160 [[3 4 8] [3 2 2]]")
}

func TestQueueIsNoBarrier(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 3)
	for k := 0; k < 5; k++ {
		s.at(1, condWait, 9, 160, 3)
		s.at(2, condBroadcast, 9, 176, 3) // thread 3 works on
	}
	if got := s.Finish(); len(got) != 0 {
		t.Errorf("sections %v", got)
	}
}

func TestJoinRounds(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	id := profile.ThreadID(1)
	for round := uint64(1); round <= 2; round++ {
		first := id
		for i := 0; i < 3; i++ {
			s.creates(0, 64)
			s.born(id, 0)
			id++
		}
		for i := first; i < id; i++ {
			s.dies(i, 100*round+uint64(i))
		}
		for i := first; i < id; i++ {
			s.at(0, join, uint64(i), 320, 1) // little of its own: it only waits
		}
	}
	got := s.Finish()
	expect(t, got, "join 320 [[101 102 103] [204 205 206]]")
	if got[0].Instances[0].Parts[0].Begin != 64 {
		t.Errorf("a worker's part begins at %d, not at its start function", got[0].Instances[0].Parts[0].Begin)
	}
}

func TestCreatorThatWorksTakesPart(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	s.at(0, join, 1, 320, 90)
	s.dies(1, 100)
	s.dies(2, 100)
	s.at(0, join, 2, 320, 1)
	expect(t, s.Finish(), "join 320 [[90 100 100]]")
}

func TestWholeLivesWhereNobodyMeets(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2)
	s.dies(1, 7)
	s.dies(2, 9)
	s.dies(0, 1)
	got := s.Finish()
	expect(t, got, "threads 0 [[7 9]]")
	if len(got[0].Warnings) != 1 || got[0].Warnings[0].Code != "whole-threads" {
		t.Errorf("warnings %v", got[0].Warnings)
	}
}

// TestFoldingKeepsWhatCounts: with little memory the oldest instances become
// one, which keeps Σ max T and Σ (max T − T), and every thread's total.
func TestFoldingKeepsWhatCounts(t *testing.T) {
	run := func(maxBytes int) profile.Section {
		s := newScript(maxBytes)
		s.born(0, -1)
		s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 3})
		for i := 1; i <= 3; i++ {
			s.creates(0, 64)
			s.born(profile.ThreadID(i), 0)
		}
		for k := uint64(0); k < 200; k++ {
			for i := uint64(1); i <= 3; i++ {
				s.at(profile.ThreadID(i), barrierWait, 7, 160, 100*((i+k)%3), k%7, i)
			}
			for i := uint64(1); i <= 3; i++ {
				s.at(profile.ThreadID(i), barrierLeft, 7, 160)
			}
			s.Advance(s.now)
		}
		return s.Finish()[0]
	}
	sums := func(s profile.Section) (top, idle uint64, n int, total map[profile.ThreadID]uint64) {
		total = map[profile.ThreadID]uint64{}
		for i, row := range work(s) {
			m := uint64(0)
			for _, x := range row {
				m = max(m, x)
			}
			top += m
			for j, x := range row {
				idle += m - x
				if s.Totals == nil {
					total[s.Instances[i].Parts[j].Thread] += x
				}
			}
			n += s.Instances[i].Folded
		}
		for _, p := range s.Totals {
			for _, x := range p.Counts.N {
				total[p.Thread] += x
			}
		}
		return
	}
	whole, folded := run(1<<20), run(2000)
	if len(whole.Instances) != 200 || len(folded.Instances) >= 200 {
		t.Fatalf("%d and %d instances", len(whole.Instances), len(folded.Instances))
	}
	t1, i1, n1, s1 := sums(whole)
	t2, i2, n2, s2 := sums(folded)
	if t1 != t2 || i1 != i2 || n1 != n2 || !reflect.DeepEqual(s1, s2) {
		t.Errorf("whole: max %d idle %d of %d %v; folded: max %d idle %d of %d %v", t1, i1, n1, s1, t2, i2, n2, s2)
	}
}
