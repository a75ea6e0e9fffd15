package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// ofRuntime has all code below an address be of a language's library, without lines.
func (s *script) ofRuntime(below profile.Addr) {
	s.out.c.Locate = func(a profile.Addr) profile.Location {
		l := profile.Location{Frame: profile.Frame{Function: "caml_minor_collection"}}
		if a >= below {
			l.Frame = profile.Frame{File: "/src/app.ml", Line: int(a), Function: "App.work"}
		}
		return l
	}
}

// TestGateOfRuntime: where a language's library has its threads meet, nobody has asked for it.
func TestGateOfRuntime(t *testing.T) {
	for below, want := range map[profile.Addr]string{
		1000: "threads 0 [[10 10]]",
		10:   "barrier 480 [[1 1] [1 1] [1 1] [1 1] [1 1] [1 1]]",
	} {
		s := newScript(1 << 20)
		s.ofRuntime(below)
		threads(s, 2)
		for range 6 {
			s.meetsAtGate(2, 1)
		}
		s.dies(1, 4)
		s.dies(2, 4)
		expect(t, s.Finish(), want)
	}
}

// TestConditionOfRuntime: threads of a pool that the library has wait for work by calls of its
// own, and are woken by the program's; where the program calls the wait, they meet.
func TestConditionOfRuntime(t *testing.T) {
	for below, want := range map[profile.Addr][]string{
		300: nil,
		10:  {"barrier 160 [[1 1 1] [2 2 2] [3 3 3] [4 4 4]]"},
	} {
		s := newScript(1 << 20)
		s.ofRuntime(below)
		threads(s, 4)
		for k := uint64(1); k <= 4; k++ {
			s.at(1, condWait, 9, 160, k)
			s.at(2, condWait, 9, 160, k)
			s.at(3, condBroadcast, 9, 160, k)
		}
		expect(t, s.Finish(), want...)
	}
}

// TestLivesAreWhole: what looked like a meeting, and was none, has ended threads' parts. Their
// lives are all that they did.
func TestLivesAreWhole(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 3)
	for range 4 {
		s.meetsAtGate(3, 100)
	}
	for range 4 {
		s.enters(1, 0, 1)
		s.leaves(1)
	}
	for id, n := range map[profile.ThreadID]uint64{1: 404, 2: 400, 3: 400} {
		if !s.NeedsLives() {
			t.Fatal("lives are of no use")
		}
		s.Lived(id, []record.Delta{{Counter: 0, N: n + 7}})
	}
	for id := profile.ThreadID(1); id <= 3; id++ {
		s.dies(id, 7)
	}
	expect(t, s.Finish(), "threads 0 [[411 407 407]]")
}

// TestWhoOnlyWatches: threads that began elsewhere than the others and did next to nothing are
// no workers; one that began where they did is.
func TestWhoOnlyWatches(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	for id, start := range []uint64{64, 128, 64, 128, 64} {
		s.creates(0, start)
		s.born(profile.ThreadID(id+1), 0)
	}
	for id, n := range []uint64{1000, 3, 2000, 5, 2} {
		s.dies(profile.ThreadID(id+1), n)
	}
	got := s.Finish()
	expect(t, got, "threads 0 [[1000 2000 2]]")
}

// TestJoinOfRuntime: the language's library runs tests in threads of its own and joins them by
// the call that tests join theirs by. The user asked for the latter, wherever in the library
// that call stands. With calls of the program's on the way to both, or where these are not
// known, it is a recursion as any other.
func TestJoinOfRuntime(t *testing.T) {
	const library, own, main = 16, 1600, 3200
	for _, c := range []struct {
		outer []uint64
		below profile.Addr
		want  []string
	}{
		{[]uint64{library, 32, 48}, 1000, []string{"join 1600 [[20 30]]"}},
		{[]uint64{library, own, main}, 1000, []string{"join 1600 [[0 20 30]]"}},
		{[]uint64{library, 32, 48}, 10, []string{"join 16 [[0 20 30]]"}},
	} {
		s := newChainScript()
		s.ofRuntime(c.below)
		s.born(0, -1)
		s.creates(0, 0)
		s.born(1, 0)
		s.creates(1, 0)
		s.born(2, 1)
		s.creates(1, 0)
		s.born(3, 1)
		s.dies(2, 20)
		s.dies(3, 30)
		s.via(1, join, 2, 1, library, own, main)
		s.via(1, join, 3, 0, library, own, main)
		s.dies(1)
		s.via(0, join, 1, 0, c.outer...)
		expect(t, s.Finish(), c.want...)
	}
}
