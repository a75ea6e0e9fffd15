package section

import (
	"fmt"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// recursionScript is of a program in which lines from 400 on are of a function that recurses
// and waits at line 410, those from 500 on of a literal in it, and lines below of others.
func recursionScript() *chainScript {
	s := &chainScript{script: newGoScript(), chains: map[string][]uint64{}}
	s.out.c.Locate = func(a profile.Addr) profile.Location {
		f := fmt.Sprint("f", a/16/100)
		if a/16 >= 500 {
			f = "f4.func1"
		}
		return profile.Location{Frame: profile.Frame{File: "main.go", Line: int(a / 16), Function: f}}
	}
	s.c.Passes = func(_ profile.Counts, site profile.Addr) bool { return site == profile.Addr(line(410)) }
	s.born(0, -1)
	return s
}

// forks: a goroutine makes another one; counted: and what it did before is known.
func (s *chainScript) forks(by, id profile.ThreadID, at, work uint64, counted bool) {
	r := recordOf(goMakes, s.tick(), 0, line(at))
	if r.Whole = counted; counted {
		r.Delta = []record.Delta{{Counter: 0, N: work}}
	}
	s.Record(by, r)
	s.born(id, by)
	s.Made(id, uint64(id), profile.Addr(line(at)), 64, false)
}

func (s *chainScript) done(id profile.ThreadID, group, work uint64) {
	s.at(id, goDone, group, line(401), work)
	s.dies(id)
}

// joins: a goroutine has waited for a group, after so much work, in functions that call
// each other.
func (s *chainScript) joins(id profile.ThreadID, group, work uint64, chain ...uint64) {
	s.via(id, goWait, group, work, chain...)
	s.at(id, goJoined, group, chain[0])
}

// TestGoRecursion: what is waited for inside of a recursion is part of the outermost wait, and
// so is what who waits did himself, but not what he did before; whoever did nothing but make
// others is none.
func TestGoRecursion(t *testing.T) {
	inner, outer := []uint64{line(410), line(405), line(100)}, []uint64{line(410), line(100)}
	for _, c := range []struct {
		name string
		run  func(s *chainScript)
		want []string
	}{
		{"one half itself", func(s *chainScript) {
			s.forks(0, 1, 402, 5000, true)
			s.forks(1, 2, 402, 1, true)
			s.forks(0, 3, 402, 0, false)
			s.done(2, 72, 20)
			s.joins(1, 72, 10, line(410), line(300))
			s.done(1, 71, 1)
			s.done(3, 73, 30)
			s.joins(0, 73, 40, inner...)
			s.joins(0, 71, 2, outer...)
		}, []string{"goroutines 6560 [[42 12 20 30]]"}},
		{"both by others", func(s *chainScript) {
			s.forks(0, 1, 402, 5000, true)
			s.forks(0, 2, 402, 0, false)
			for k := range profile.ThreadID(2) {
				s.forks(1+k, 3+2*k, 402, 1, true)
				s.forks(1+k, 4+2*k, 402, 0, false)
				s.done(3+2*k, 72+uint64(k), 100)
				s.done(4+2*k, 72+uint64(k), 200)
				s.joins(1+k, 72+uint64(k), 1, line(410), line(300))
				s.done(1+k, 71, 1)
			}
			s.joins(0, 71, 1, outer...)
		}, []string{"goroutines 6560 [[100 200 100 200]]"}},
		{"made by the library", func(s *chainScript) {
			s.forks(0, 1, 302, 5000, true)
			s.forks(1, 2, 302, 1, true)
			s.forks(1, 3, 302, 0, false)
			s.done(2, 72, 20)
			s.done(3, 72, 30)
			s.joins(1, 72, 10, line(410), line(500))
			s.done(1, 71, 1)
			s.joins(0, 71, 12, outer...)
		}, []string{"goroutines 6560 [[12 12 20 30]]"}},
		{"no recursion", func(s *chainScript) {
			s.forks(0, 1, 302, 5000, true)
			s.forks(0, 2, 302, 0, false)
			for k := range profile.ThreadID(2) {
				s.forks(1+k, 3+2*k, 402, 1, true)
				s.forks(1+k, 4+2*k, 402, 0, false)
				s.done(3+2*k, 72+uint64(k), 100)
				s.done(4+2*k, 72+uint64(k), 200)
				s.joins(1+k, 72+uint64(k), 7, outer...)
				s.done(1+k, 71, 1)
			}
			s.joins(0, 71, 1, line(310), line(100))
		}, []string{"goroutines 6560 [[100 200] [100 200]]", "goroutines 4960 [[9 9]]"}},
		{"one half itself, and no more", func(s *chainScript) {
			s.forks(0, 1, 402, 5000, true)
			s.done(1, 71, 20)
			s.joins(0, 71, 10, outer...)
		}, []string{"goroutines 6560 [[10 20]]"}},
		{"a part beside", func(s *chainScript) {
			s.forks(0, 1, 302, 5000, true)
			s.forks(0, 2, 302, 0, false)
			s.done(1, 71, 20)
			s.done(2, 71, 20)
			s.now += 1000
			s.joins(0, 71, 80, line(310), line(100))
		}, []string{"goroutines 4960 [[80 20 20]]"}},
		{"a helper beside", func(s *chainScript) {
			s.forks(0, 1, 302, 5000, true)
			s.done(1, 71, 20)
			s.joins(0, 71, 1000, line(310), line(100))
		}, nil},
		{"who looks after them", func(s *chainScript) {
			s.forks(0, 1, 302, 5000, true)
			s.forks(0, 2, 302, 0, false)
			s.done(1, 71, 20)
			s.done(2, 71, 20)
			s.now += 1000
			s.joins(0, 71, 3, line(310), line(100))
		}, []string{"goroutines 4960 [[20 20]]"}},
		{"work while they are made", func(s *chainScript) {
			s.forks(0, 1, 302, 5000, true)
			s.now += 1000
			s.forks(0, 2, 302, 0, false)
			s.done(1, 71, 20)
			s.done(2, 71, 20)
			s.joins(0, 71, 80, line(310), line(100))
		}, []string{"goroutines 4960 [[20 20]]"}},
		{"who are told what to do", func(s *chainScript) {
			s.forks(0, 1, 302, 5000, true)
			s.forks(0, 2, 302, 0, false)
			s.at(1, goFirst, 9, 0)
			s.done(1, 71, 20)
			s.done(2, 71, 20)
			s.now += 1000
			s.joins(0, 71, 80, line(310), line(100))
		}, []string{"goroutines 4960 [[20 20]]"}},
		{"done inside and around", func(s *chainScript) {
			s.forks(0, 1, 402, 5, true)
			s.forks(1, 2, 402, 1, true)
			s.at(2, goDone, 72, line(401), 20)
			s.joins(1, 72, 10, line(410), line(300))
			s.done(2, 71, 5)
			s.done(1, 71, 1)
			s.at(0, goDone, 71, line(401), 30)
			s.joins(0, 71, 40, outer...)
		}, []string{"goroutines 6560 [[35 12 25]]"}},
		{"nobody waits around it", func(s *chainScript) {
			s.forks(0, 1, 402, 5000, true)
			s.forks(1, 2, 402, 1, true)
			s.forks(1, 3, 402, 0, false)
			s.done(2, 72, 20)
			s.done(3, 72, 30)
			s.joins(1, 72, 10, line(410), line(300))
			s.dies(1, 1)
		}, []string{"goroutines 6560 [[20 30]]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := recursionScript()
			c.run(s)
			expect(t, s.Finish(), c.want...)
		})
	}
}
