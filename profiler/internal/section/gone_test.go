package section

import (
	"reflect"
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestGone: of goroutines that have ended nothing is kept that nobody asks for, whether
// they were groups, batches, or meetings at conditions; who they were is still known.
func TestGone(t *testing.T) {
	wait, wake := hookOf("sync.(*Cond).Wait").Arrive, hookOf("sync.(*Cond).Broadcast").Arrive
	s := newGoScript()
	s.born(0, -1)
	next := profile.ThreadID(1)
	launch := func(by profile.ThreadID) profile.ThreadID {
		id := next
		next++
		s.Record(by, recordOf(goMakes, s.tick(), 0, 320))
		s.born(id, by)
		s.Made(id, uint64(id), 320, 64, false)
		return id
	}
	for range 100 {
		maker := launch(0)
		a, b := launch(maker), launch(maker)
		s.at(a, hookOf("(first)").Arrive, 5, 160)
		s.at(a, wait, 9, 160, 10)
		s.at(maker, wake, 9, 176)
		s.at(a, goDone, 7, 192, 10)
		s.at(b, goDone, 7, 192, 20)
		s.dies(a)
		s.dies(b)
		s.at(maker, goWait, 7, 480)
		s.at(maker, goJoined, 7, 480)
		s.at(maker, goWait, 8, 480) // nobody is waited for
		s.at(maker, goJoined, 8, 480)
		s.dies(maker)
		s.at(0, goReceive, 6, 640)
	}
	s.Advance(s.now)
	for what, n := range map[string]int{
		"threads": len(s.threads), "hands": len(s.Tracker.pools.hands), "kin": len(s.Tracker.goes.kin), "errands": len(s.Tracker.goes.errands),
		"batches": len(s.Tracker.goes.batches), "waits": len(s.Tracker.goes.at), "groups": len(s.Tracker.goes.groups),
		"arrivals": len(s.epochs[9].arrivals) + len(s.epochs[9].passed) + len(s.epochs[9].held),
	} {
		if n > 1 {
			t.Errorf("%d %s are left", n, what)
		}
	}
	to := profile.Thread{ID: 2}
	if s.Tie(&to); to.Creator != 2 || s.Start(2) != 64 || s.Start(0) != 0 {
		t.Errorf("%+v, which began at %#x", to, s.Start(2))
	}
	if got := s.Finish(); len(got) != 1 || len(got[0].Instances) != 100 {
		t.Errorf("%+v", got)
	}
}

// TestGoneThreads: of threads that were joined nothing is kept either, once there is a
// section of joins, but of who created others, or was in something else; who created and
// joined them, and when, is still known.
func TestGoneThreads(t *testing.T) {
	s := newScript(1 << 20)
	s.born(0, -1)
	kept := newScript(1 << 20) // to compare with: its threads have said something
	kept.born(0, -1)
	next := profile.ThreadID(1)
	for range 300 {
		for _, x := range []*script{s, kept} {
			for k := range profile.ThreadID(2) {
				x.creates(0, 64)
				x.born(next+k, 0)
				if x == kept {
					x.Tracker.joins.said[x.threads[next+k]] = arrival{}
				}
			}
			x.dies(next, 5)
			x.dies(next+1, 10)
			x.at(0, join, 1, 320)
			x.at(0, join, 2, 320)
		}
		s.Advance(s.now)
		kept.Advance(kept.now)
		next += 2
	}
	if len(s.threads) != 1 || len(kept.threads) != 601 {
		t.Errorf("%d threads are left, and %d", len(s.threads), len(kept.threads))
	}
	for id := range next {
		a, b := profile.Thread{ID: id, BeginNS: 40}, profile.Thread{ID: id, BeginNS: 40}
		s.Tie(&a)
		kept.Tie(&b)
		if !reflect.DeepEqual(a, b) || s.Start(id) != kept.Start(id) || id > 0 && (a.Creator != 1 || a.Joiner != 1) {
			t.Fatalf("thread %d: %+v, begun at %#x; kept %+v, %#x", id, a, s.Start(id), b, kept.Start(id))
		}
	}
	s.creates(0, 64)
	s.born(next, 0)
	s.creates(next, 64) // which creates one itself
	s.born(next+1, next)
	s.dies(next)
	s.at(0, join, 1, 320)
	s.Advance(s.now)
	if s.threads[next] == nil {
		t.Error("who has created a thread that lives is forgotten")
	}
	s.dies(next + 1)
	if got := s.Finish(); len(got) != 1 || len(got[0].Instances) != 300 {
		t.Errorf("%d sections", len(got))
	}
}

// TestLateBirths: a goroutine may begin to run when the next ones have been made; the
// batch that it is of is complete all the same.
func TestLateBirths(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	made := func(at profile.Addr) { s.Record(0, recordOf(goMakes, s.tick(), 0, uint64(at))) }
	runs := func(id profile.ThreadID, at profile.Addr, work uint64) {
		s.born(id, 0)
		s.Made(id, uint64(id), at, 64, false)
		s.dies(id, work)
	}
	made(320)
	made(320)
	runs(1, 320, 100)
	s.at(0, goReceive, 5, 640)
	made(336)
	runs(2, 320, 300)
	s.at(0, goReceive, 5, 656)
	made(336)
	runs(3, 336, 1)
	runs(4, 336, 1)
	s.Advance(s.now)
	if list := s.Tracker.goes.batches[s.threads[0]]; len(list) != 1 || list[0].dead != 1 {
		t.Errorf("%d batches are left", len(list))
	}
	expect(t, s.Finish(), "goroutines 320 [[100 300]]")
}
