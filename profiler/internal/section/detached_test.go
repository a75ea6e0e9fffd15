package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestDetached: a creator waits for threads that nobody joins, and creates as many
// again. Where some live on it did not wait for them, and where it joins others
// nobody knows for whom it waited.
func TestDetached(t *testing.T) {
	for _, c := range []struct {
		name  string
		late  uint64 // how long the second thread of a generation lives on
		joins bool
		want  string
	}{
		{"waited for", 0, false, "join 320 [[11 12] [21 22] [31 32]]"},
		{"ends in a moment", 1000, false, "join 320 [[11 12] [21 22] [31 32]]"},
		{"lives on", 100e6, false, "threads 0 [[11 12 21 22 31 32]]"},
		{"joined", 0, true, "join 336 [[11 12 21 22 31 32]]"},
	} {
		t.Log(c.name)
		s := newScript(1 << 20)
		s.born(0, -1)
		for round := range profile.ThreadID(3) {
			first := 2*round + 1
			for k := range profile.ThreadID(2) {
				s.creates(0, 64)
				s.born(first+k, 0)
			}
			s.idles(0, forAll)
			s.dies(first, uint64(10*(round+1)+1))
			if c.late == 0 {
				s.dies(first+1, uint64(10*(round+1)+2))
			}
			s.goes(0, forAll)
			if c.late > 0 {
				s.now += c.late
				s.dies(first+1, uint64(10*(round+1)+2))
			}
		}
		if c.joins {
			for id := uint64(1); id <= 6; id++ {
				s.at(0, join, id, 336)
			}
		}
		s.dies(0)
		expect(t, s.Finish(), c.want)
		if got, want := s.ties(3), c.late <= 1000; got.joiner == 1 != want || got.joined != want {
			t.Errorf("thread 3 is joined: %+v", got)
		}
	}
}

// TestDetachedAfterGate: threads that are waited for have met, and it is undecided until the
// first of them has done its work. All begin anew there, not only those that say so later.
func TestDetachedAfterGate(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.creates(0, 64)
		s.born(id, 0)
	}
	s.idles(0, forAll)
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.enters(id, 0, 1000+uint64(id))
	}
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.leaves(id)
	}
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.at(id, hookOf(record.Done).Arrive, 0, 500, 70+uint64(id))
		s.dies(id)
	}
	s.goes(0, forAll)
	s.dies(0)
	expect(t, s.Finish(), "barrier 480 [[1001 1002 1003]]", "join 320 [[71 72 73]]")
}

// TestDetachedStraggler: one of many threads waits for a core when it has done its
// work, and ends long after its creator went on: it was waited for, as the others were.
func TestDetachedStraggler(t *testing.T) {
	for _, c := range []struct {
		each int // every which thread lives on
		want string
	}{
		{8, "join 320 [[11 12] [21 22] [31 32] [41 42]]"},
		{4, "threads 0 [[11 12 21 22 31 32 41 42]]"},
	} {
		s := newScript(1 << 20)
		s.born(0, -1)
		for round := range profile.ThreadID(4) {
			first := 2*round + 1
			for k := range profile.ThreadID(2) {
				s.creates(0, 64)
				s.born(first+k, 0)
			}
			s.idles(0, forAll)
			lives := int(first+1)%c.each == 0
			s.dies(first, uint64(10*(round+1)+1))
			if !lives {
				s.dies(first+1, uint64(10*(round+1)+2))
			}
			s.goes(0, forAll)
			if lives {
				s.now += 100e6
				s.dies(first+1, uint64(10*(round+1)+2))
			}
		}
		s.dies(0)
		expect(t, s.Finish(), c.want)
	}
}
