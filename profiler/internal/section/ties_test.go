package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

type ties struct {
	creator, joiner profile.ThreadID
	joined          bool
}

func (s *script) ties(id profile.ThreadID) ties {
	t := profile.Thread{ID: id, BeginNS: 1 << 40}
	s.Tie(&t)
	return ties{t.Creator, t.Joiner, t.JoinedNS > 0}
}

// TestTies: who created and who joined threads, also one alone that is no instance,
// and threads that were created by others; nobody has joined who was left.
func TestTies(t *testing.T) {
	s := newScript(1 << 20)
	threads(s, 2) // 0 creates 1 and 2
	s.creates(1, 64)
	s.born(3, 1)
	s.creates(2, 64)
	s.born(4, 2)
	s.dies(3, 5)
	s.at(1, join, 1, 320)
	s.dies(1, 5)
	s.dies(2, 5)
	s.at(0, join, 1, 320)
	s.at(0, join, 2, 320)
	s.dies(0)
	s.Finish()
	for id, want := range []ties{{}, {1, 1, true}, {1, 1, true}, {2, 2, true}, {3, 0, false}} {
		if got := s.ties(profile.ThreadID(id)); got != want {
			t.Errorf("thread %d: %+v, want %+v", id, got, want)
		}
	}
	x := profile.Thread{ID: 2, BeginNS: 40}
	if s.Tie(&x); x.CreatedNS != 40 || x.JoinNS != 150 || x.JoinedNS != 150 {
		t.Errorf("created at %d, waited for from %d until %d", x.CreatedNS, x.JoinNS, x.JoinedNS)
	}
}
