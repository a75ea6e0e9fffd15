package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestCreatorTakesPart: a creator that does little takes part all the same if
// it met its workers at a barrier or ran the function that they began in.
func TestCreatorTakesPart(t *testing.T) {
	for _, c := range []struct {
		name    string
		meets   bool
		entered func(profile.Counts, profile.Addr) bool
		want    string
	}{
		{"waits only", false, nil, "join 320 [[100 100]]"},
		{"ran another function", false, func(_ profile.Counts, f profile.Addr) bool { return f != 64 }, "join 320 [[100 100]]"},
		{"ran their function", false, func(_ profile.Counts, f profile.Addr) bool { return f == 64 }, "join 320 [[1 100 100]]"},
		{"met them", true, nil, "join 320 [[1 100 100]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(1 << 20)
			s.c.Entered = c.entered
			threads(s, 2)
			want := []string{c.want}
			if c.meets {
				s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
				s.at(0, barrierWait, 7, 160, 2)
				s.at(1, barrierWait, 7, 160, 3)
				s.at(0, barrierLeft, 7, 160)
				s.at(1, barrierLeft, 7, 160)
				want = []string{"barrier 160 [[2 3]]", c.want}
			}
			s.at(0, join, 1, 320, 1)
			s.dies(1, 100)
			s.dies(2, 100)
			s.at(0, join, 2, 320)
			expect(t, s.Finish(), want...)
			if got := s.Start(2); got != 64 {
				t.Errorf("a worker began in %d, not in the function that its creator named", got)
			}
		})
	}
}

// TestThreadsOfLibraries: workers whose creation was not recorded are known by
// their birth, and where they began is not.
func TestThreadsOfLibraries(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	s.at(0, join, 9, 320) // of a thread that nobody has seen
	s.born(1, 0)
	s.born(2, 0)
	s.dies(1, 700)
	s.dies(2, 900)
	s.at(0, join, 1, 320)
	s.at(0, join, 2, 336)
	expect(t, s.Finish(), "join 320 [[700 900]]")
	if s.Start(1) != 0 {
		t.Errorf("a thread began in %d, which nobody said", s.Start(1))
	}
}

// TestCreatedAfterJoins: joins with a time limit can be more than there are
// workers. Those that were created after the last one are not joined.
func TestCreatedAfterJoins(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	s.creates(0, 64)
	s.born(1, 0)
	for range 3 {
		s.at(0, join, 1, 320)
	}
	s.creates(0, 64)
	s.born(2, 0)
	s.dies(1, 700)
	s.dies(2, 900)
	s.at(0, join, 2, 320)
	expect(t, s.Finish(), "join 320 [[700 900]]")
}
