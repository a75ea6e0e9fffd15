package native

import (
	"testing"
	"time"
)

// TestRoom: signals are watched up to so many, and so long, in a second; those
// that are not are told of.
func TestRoom(t *testing.T) {
	s := &signals{since: time.Now().Add(time.Hour)} // a second that does not end
	for n := range watchable + 3 {
		if s.room() != (n < watchable) {
			t.Fatalf("room for signal %d: %v", n, n >= watchable)
		}
	}
	if s.unwatched != 3 {
		t.Errorf("%d signals were not watched, want 3", s.unwatched)
	}
	s = &signals{since: time.Now().Add(time.Hour), spent: watchableFor + 1}
	if s.room() || s.unwatched != 1 {
		t.Error("a signal is watched where all the time for that is spent")
	}
	s.since = time.Time{}
	if !s.room() || s.spent != 0 {
		t.Error("a new second has no room")
	}
}
