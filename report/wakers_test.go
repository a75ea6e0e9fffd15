package report

import (
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

func woken(k profile.WaitKind, at, by profile.Addr, who profile.ThreadID, n int64) profile.Wake {
	return profile.Wake{Kind: k, Site: at, By: by, Thread: who, NS: n * ms}
}

// TestWaker: the line that held a lock longest while others waited is named
// with the wait and its cause, and who that was, where it was one.
func TestWaker(t *testing.T) {
	in := []profile.Part{part(1, 2, 4), part(2, 2, 2, waited(profile.WaitLock, lockAt, 2)), part(3, 2, 0, waited(profile.WaitLock, lockToo, 4))}
	in[1].Wakes = []profile.Wake{woken(profile.WaitLock, lockAt, sleepAt, 1, 2)}
	in[2].Wakes = []profile.Wake{woken(profile.WaitLock, lockToo, lockAt, 2, 1), woken(profile.WaitLock, lockToo, sleepAt, 1, 1),
		woken(profile.WaitIO, lockToo, meetAt, 1, 9)}
	s := reportOf(t, waitingProfile(6, in))
	if len(s.Causes) != 1 || s.Causes[0].Waker == nil {
		t.Fatalf("causes %+v", s.Causes)
	}
	w := s.Causes[0].Waker
	if w.Location.Short() != "x.c:30" || w.Seconds != .003 || w.Share != .5 || w.Threads != 1 || w.Thread == nil || *w.Thread != 1 {
		t.Errorf("waker %+v at %s", w, w.Location.Short())
	}
	if m := s.Causes[0].Message; !strings.Contains(m, "held by thread 1 up to x.c:30, 50 % of the time") {
		t.Error(m)
	}
	for _, x := range s.Waits {
		if (x.Waker != nil) != (x.Kind == "lock") {
			t.Errorf("wait %+v", x)
		}
	}
	w.Thread, w.Threads, w.Share = nil, 2, 1
	if got := w.Words("condition"); got != "ended by 2 threads at x.c:30" {
		t.Error(got)
	}
}

// TestNoWaker: what ended little of a wait, or has no place, is not named.
func TestNoWaker(t *testing.T) {
	for name, k := range map[string]profile.Wake{
		"little":          woken(profile.WaitLock, lockAt, sleepAt, 1, 0),
		"without a place": woken(profile.WaitLock, lockAt, 0, 1, 4),
		"of another wait": woken(profile.WaitLock, sleepAt, sleepAt, 1, 4),
	} {
		in := []profile.Part{part(1, 2, 4), part(2, 2, 0, waited(profile.WaitLock, lockAt, 4))}
		in[1].Wakes = []profile.Wake{k}
		for _, w := range reportOf(t, waitingProfile(6, in)).Waits {
			if w.Waker != nil {
				t.Errorf("%s: waker %+v", name, w.Waker)
			}
		}
	}
}
