package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestOthersGoOn: those that were joined are an instance though a thread that was
// created before them goes on, or is joined elsewhere when they are done.
func TestOthersGoOn(t *testing.T) {
	const logs, works = 48, 64
	round := func(s *script, first profile.ThreadID, site uint64, order ...profile.ThreadID) {
		for _, id := range []profile.ThreadID{first, first + 1} {
			s.create(id, works)
			s.dies(id, 100*uint64(id))
		}
		for _, id := range order {
			s.at(0, join, uint64(id), site)
		}
	}
	for name, c := range map[string]struct {
		do   func(s *script)
		want []string
	}{
		"a logger, by rounds": {func(s *script) {
			s.create(1, logs)
			round(s, 2, 320, 2, 3)
			round(s, 4, 320, 4, 5)
		}, []string{"join 320 [[200 300] [400 500]]"}},
		"joined from the last on": {func(s *script) {
			s.create(1, logs)
			round(s, 2, 320, 3, 2)
			round(s, 4, 320, 5, 4)
		}, []string{"join 320 [[200 300] [400 500]]"}},
		"it is joined in the end, elsewhere": {func(s *script) {
			s.create(1, logs)
			round(s, 2, 320, 2, 3)
			s.dies(1, 7)
			s.at(0, join, 1, 400)
		}, []string{"join 320 [[200 300]]"}},
		"one of their own is joined elsewhere": {func(s *script) {
			s.create(1, works)
			round(s, 2, 320, 3, 2)
			s.dies(1, 100)
			s.at(0, join, 1, 400)
		}, []string{"join 320 [[100 200 300]]"}},
		"a younger one is joined elsewhere": {func(s *script) {
			round(s, 2, 320)
			s.create(1, logs)
			s.at(0, join, 2, 320)
			s.at(0, join, 3, 320)
			s.dies(1, 7)
			s.at(0, join, 1, 400)
		}, []string{"join 320 [[200 300]]"}},
		"asked whether they have ended": {func(s *script) {
			s.create(1, logs)
			round(s, 2, 320)
			for _, id := range []uint64{2, 2, 3, 3, 3} {
				s.at(0, tryJoin, id, 320)
			}
		}, []string{"join 320 [[200 300]]"}},
		"one beside a team that nobody joined": {func(s *script) {
			round(s, 1, 320)
			s.create(3, logs)
			s.dies(3, 7)
			s.at(0, join, 3, 400, 9)
			s.create(4, works)
			s.dies(4, 100)
		}, []string{"threads 0 [[100 200 7 100]]"}},
		"by turns: the others came later": {func(s *script) {
			s.create(1, works)
			s.create(2, works)
			s.dies(1, 100)
			s.at(0, join, 1, 320)
			s.create(3, works)
			s.dies(2, 200)
			s.at(0, join, 2, 320)
			s.dies(3, 300)
			s.at(0, join, 3, 320)
		}, []string{"join 320 [[100 200 300]]"}},
		"a logger that was created later": {func(s *script) {
			s.create(1, works)
			s.create(2, works)
			s.create(3, logs)
			s.dies(1, 100)
			s.at(0, join, 1, 320)
			s.dies(2, 200)
			s.at(0, join, 2, 320)
		}, []string{"join 320 [[100 200]]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(1 << 20)
			s.born(0, -1)
			c.do(s)
			expect(t, s.Finish(), c.want...)
		})
	}
}

// create creates a thread of the first one's that is joined by its number.
func (s *script) create(id profile.ThreadID, start uint64) {
	s.creates(0, start)
	s.born(id, 0)
	s.Handle(id, uint64(id))
}

// TestKin: threads are of one kind that begin in one function and were created on one
// line, and in no code of the user's by the same calls.
func TestKin(t *testing.T) {
	name := ""
	tr := New(Config{NSPerTick: 1, Locate: func(a profile.Addr) profile.Location {
		return profile.Location{Address: a, Frame: profile.Frame{File: name, Line: 7, Function: "f"}}
	}, Line: func(profile.Addr) string { return "new:7" }})
	made := func(chain ...uint64) *thread {
		return &thread{start: 1, made: callSite{profile.Addr(chain[0]), chain}}
	}
	x := made(10, 20)
	for _, c := range []struct {
		file string
		y    *thread
		want bool
	}{
		{"/src/own.rs", made(10, 20), true},
		{"/src/own.rs", made(10, 30), true},
		{"/rustc/0/library/std/new.rs", made(10, 20), true},
		{"/rustc/0/library/std/new.rs", made(10, 30), false},
	} {
		name = c.file
		clear(tr.out.at)
		clear(tr.out.ways)
		if got := tr.joins.kin(x, c.y); got != c.want {
			t.Errorf("%s, called %v and %v: %v", c.file, x.made.chain, c.y.made.chain, got)
		}
	}
	y := made(10, 20)
	if y.start = 2; tr.joins.kin(x, y) {
		t.Error("they begin in different functions")
	}
}
