package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

var (
	goSend  = hookOf("runtime.chansend1").Arrive
	goFirst = hookOf(record.First).Arrive
)

// errandScript has the goroutine of number 0 make so many others, which first receive
// from the channels of their numbers, or all from that of number 1.
func errandScript(n profile.ThreadID, shared bool) *script {
	s := newGoScript()
	s.born(0, -1)
	for id := profile.ThreadID(1); id <= n; id++ {
		s.launches(id, 320)
		channel := uint64(id)
		if shared {
			channel = 1
		}
		s.at(id, goFirst, channel, 160)
	}
	return s
}

// sendsOut has the maker send something on channels, and answers has a goroutine answer.
func (s *script) sendsOut(channels ...uint64) {
	for _, c := range channels {
		s.at(0, goSend, c, 400)
	}
}

func (s *script) answers(id profile.ThreadID, work uint64) { s.at(id, goSend, 99, 176, work) }

// collects: the maker receives so many answers.
func (s *script) collects(n int) {
	for range n {
		s.at(0, goReceive, 99, 480)
	}
}

// TestRounds: when all that was sent out has been answered, that was a round; whoever
// has shared one and does nothing in the next has an empty part there.
func TestRounds(t *testing.T) {
	s := errandScript(2, false)
	for k := uint64(1); k <= 3; k++ {
		s.sendsOut(1, 2)
		s.answers(1, k)
		s.answers(2, 10*k)
		s.collects(2)
	}
	s.sendsOut(1, 1)
	s.answers(1, 5)
	s.answers(1, 6)
	s.collects(2)
	s.sendsOut(1, 2)
	s.answers(1, 7)
	s.answers(2, 7)
	s.collects(2)
	s.dies(1, 1)
	s.dies(2, 2)
	s.dies(0)
	expect(t, s.Finish(), "goroutines 480 [[1 10] [2 20] [3 30] [11 0] [7 7]]")
}

// TestSharedRounds: those that could have taken something have a part, also if they
// never did.
func TestSharedRounds(t *testing.T) {
	s := errandScript(3, true)
	for range 2 {
		s.sendsOut(1, 1, 1)
		s.answers(1, 5)
		s.answers(2, 5)
		s.answers(1, 5)
		s.collects(3)
	}
	s.dies(0)
	s.dies(1)
	s.dies(2)
	s.dies(3, 1)
	expect(t, s.Finish(), "goroutines 480 [[10 5 0] [10 5 0]]")
}

// TestLastRound: who has come to nothing when all is over has what it did meanwhile.
func TestLastRound(t *testing.T) {
	s := errandScript(3, true)
	s.sendsOut(1, 1)
	s.answers(1, 5)
	s.answers(2, 6)
	s.collects(2)
	s.dies(0)
	s.dies(3, 1)
	expect(t, s.Finish(), "goroutines 480 [[5 6 1]]")
}

// TestCrews: those that are sent work apart from others are no part of their rounds.
func TestCrews(t *testing.T) {
	s := errandScript(4, false)
	for range 2 {
		for first := profile.ThreadID(1); first <= 3; first += 2 {
			s.sendsOut(uint64(first), uint64(first+1))
			s.answers(first, 3)
			s.answers(first+1, 4)
			s.collects(2)
		}
	}
	s.dies(0)
	expect(t, s.Finish(), "goroutines 480 [[3 4] [3 4] [3 4] [3 4]]")
}

// TestNoRounds: one piece after the other is no round, nor is what goes on while others
// are out, before all is done.
func TestNoRounds(t *testing.T) {
	s := errandScript(2, false)
	for range 3 {
		for id := profile.ThreadID(1); id < 3; id++ {
			s.sendsOut(uint64(id))
			s.answers(id, 7)
			s.collects(1)
		}
	}
	s.dies(1, 1)
	s.dies(2, 1)
	expect(t, s.Finish(), "goroutines 320 [[22 22]]")

	s = errandScript(2, true)
	s.sendsOut(1, 1)
	for range 3 {
		s.answers(1, 5)
		s.collects(1)
		s.sendsOut(1)
	}
	s.answers(1, 5)
	s.answers(2, 9)
	s.collects(2)
	s.dies(0)
	expect(t, s.Finish(), "goroutines 480 [[20 9]]")
}

// TestOfGroups: who was part of a group is waited for there.
func TestOfGroups(t *testing.T) {
	s := errandScript(2, false)
	s.at(1, goDone, 7, 160, 3)
	s.at(2, goDone, 7, 160, 4)
	s.at(0, goWait, 7, 640)
	s.at(0, goJoined, 7, 640)
	s.sendsOut(1, 2)
	s.answers(1, 5)
	s.answers(2, 6)
	s.collects(2)
	s.dies(0)
	expect(t, s.Finish(), "goroutines 640 [[3 4]]")
}

// TestOfInterest: what goroutines send is of interest where there are rounds, and before
// too much has been sent without.
func TestOfInterest(t *testing.T) {
	s := errandScript(2, false)
	for range 2 {
		s.sendsOut(1, 2)
		s.answers(1, 1)
		s.answers(2, 2)
		s.collects(2)
	}
	s.sendsOut(1)
	s.born(3, -1)
	s.launches(4, 320)
	s.Record(3, recordOf(goMakes, s.tick(), 0, 320))
	s.born(5, 3)
	ask := func(want ...bool) {
		t.Helper()
		s.Advance(s.now + 1)
		for id, w := range want {
			if got := s.Sends(profile.ThreadID(id)); got != w {
				t.Errorf("goroutine %d: %v", id, got)
			}
		}
	}
	ask(true, true, true, true, true, true)
	for range sendTrial {
		s.at(5, goSend, 1, 160)
	}
	ask(true, true, true, false, true, false)
	for range sendIdle {
		s.answers(1, 1)
	}
	ask(false, false, false, false, false, false)
}
