package section

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// Kinds of goroutines' records.
var (
	goDone    = hookOf("sync.(*WaitGroup).Add").Arrive
	goWait    = hookOf("sync.(*WaitGroup).Wait").Arrive
	goJoined  = hookOf("sync.(*WaitGroup).Wait").Leave
	goMakes   = hookOf("runtime.newproc").Arrive
	goReceive = hookOf("runtime.chanrecv1").Arrive
)

func newGoScript() *script {
	s := newScript(1 << 20)
	s.c.Goroutines = true
	s.out.c.Goroutines = true
	return s
}

// launches has a goroutine made by the one of number 0, by the go statement at an address.
func (s *script) launches(id profile.ThreadID, at profile.Addr) {
	s.Record(0, recordOf(goMakes, s.tick(), 0, uint64(at)))
	s.born(id, 0)
	s.Made(id, uint64(id), at, 64, false)
}

// newScriptOf4 is one of four goroutines, from 1 on.
func newScriptOf4() *script {
	s := newGoScript()
	s.born(0, -1)
	for id := profile.ThreadID(1); id <= 4; id++ {
		s.launches(id, 320)
	}
	return s
}

// joins4 waits for these: the section is all that there is.
func (s *script) joins4(t *testing.T) []profile.Section {
	t.Helper()
	for id := profile.ThreadID(1); id <= 4; id++ {
		s.at(id, goDone, 9, 480)
	}
	s.at(0, goWait, 9, 352)
	s.at(0, goJoined, 9, 352)
	list := s.Finish()
	expect(t, list, "goroutines 352 [[0 0 0 0]]")
	return list
}

// TestWaitGroups: goroutines that a group waits for are parts up to their last Done;
// of who lives on the next part begins there.
func TestWaitGroups(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	s.launches(1, 320)
	s.launches(2, 320)
	s.at(1, goDone, 7, 160, 100)
	s.at(0, goWait, 7, 480)
	s.at(2, goDone, 7, 160, 300)
	s.at(2, goDone, 7, 160, 50) // once more
	s.at(0, goJoined, 7, 480)
	s.dies(1, 1000) // behind Done: of no part
	s.launches(3, 320)
	s.at(0, goWait, 7, 480)
	s.at(3, goDone, 7, 160, 10)
	s.at(2, goDone, 7, 160, 20)
	s.at(0, goJoined, 7, 480)
	s.at(0, goJoined, 7, 480) // nobody is waited for
	s.at(2, goDone, 9, 160)   // and nobody waits
	s.dies(3)
	s.dies(2, 5)
	got := s.Finish()
	expect(t, got, "goroutines 480 [[100 350] [20 10]]")
	for i := range got[0].Instances {
		if w := got[0].Instances[i].Waiter; w != 1 {
			t.Errorf("instance %d: who waited is %d", i, w)
		}
	}
	if p := got[0].Instances[1].Parts; p[0].Slot == p[1].Slot {
		t.Errorf("two goroutines in one place: %+v", p)
	}
	if got[0].Instances[0].Parts[0].Slot != got[0].Instances[1].Parts[1].Slot {
		t.Error("the first that a go statement made has not the place of the first of the round before")
	}
}

// TestDoneWithTwo: what goroutines did until they were done with the group that is waited
// for first is of no other one's instance, whether they live or not.
func TestDoneWithTwo(t *testing.T) {
	for _, order := range [][2]uint64{{7, 9}, {9, 7}} { // as they are waited for: in order, or the later one first
		s := newGoScript()
		s.born(0, -1)
		for id := profile.ThreadID(1); id <= 3; id++ {
			s.launches(id, 320)
			s.at(id, goDone, 7, 160, 100*uint64(id))
			s.at(id, goDone, 9, 160, 10*uint64(id))
			if id > 1 {
				s.dies(id, 1)
			}
		}
		for i, group := range order {
			site := uint64(352 + 32*i)
			s.at(0, goWait, group, site)
			s.at(0, goJoined, group, site)
		}
		want := []string{"goroutines 352 [[100 200 300]]", "goroutines 384 [[10 20 30]]"}
		if order[0] == 9 {
			want = []string{"goroutines 352 [[110 220 330]]", "goroutines 384 [[0 0 0]]"}
		}
		s.dies(1)
		expect(t, s.Finish(), want...)
	}
}

// TestDoneAgain: of however many goroutines a group has, each has one part, up to its last
// Done; and the group after it has none of these.
func TestDoneAgain(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	want := []string{}
	for round := range 2 {
		var works []string
		for id := range profile.ThreadID(3 * fewDone) {
			s.launches(1000*profile.ThreadID(round)+id+1, 320)
		}
		for again := range 2 {
			for id := range profile.ThreadID(3 * fewDone) {
				s.at(1000*profile.ThreadID(round)+id+1, goDone, 7, 160, uint64(100+int(id)))
				if again > 0 {
					works = append(works, fmt.Sprint(200+2*int(id)))
				}
			}
		}
		s.at(0, goWait, 7, 480)
		s.at(0, goJoined, 7, 480)
		for id := range profile.ThreadID(3 * fewDone) {
			s.dies(1000*profile.ThreadID(round) + id + 1)
		}
		want = append(want, "["+strings.Join(works, " ")+"]")
	}
	expect(t, s.Finish(), "goroutines 480 ["+strings.Join(want, " ")+"]")
}

// TestBatches: goroutines meet where who made them receives as often, else all that is
// known is the go statement.
func TestBatches(t *testing.T) {
	for _, c := range []struct {
		name     string
		receives []uint64 // channels
		lines    uint64
		want     string
	}{
		{"as often", []uint64{5, 5}, 1, "goroutines 640 [[100 300] [7 9]]"},
		{"from its own each", []uint64{5, 6}, 1, "goroutines 640 [[100 300] [7 9]]"},
		{"by two lines", []uint64{5, 6}, 2, "goroutines 320 [[100 300] [7 9]]"},
		{"once", []uint64{5}, 1, "goroutines 320 [[100 300] [7 9]]"},
		{"more often", []uint64{5, 6, 5}, 1, "goroutines 320 [[100 300] [7 9]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newGoScript()
			s.born(0, -1)
			s.at(0, goReceive, 5, 656) // it has made nobody yet
			for round, work := range [][2]uint64{{100, 300}, {7, 9}} {
				a, b := profile.ThreadID(2*round+1), profile.ThreadID(2*round+2)
				s.launches(a, 320)
				s.launches(b, 320)
				for k, channel := range c.receives {
					s.at(0, goReceive, channel, 640+160*(uint64(k)%c.lines))
				}
				s.dies(a, work[0])
				s.dies(b, work[1])
			}
			expect(t, s.Finish(), c.want)
		})
	}
}

// TestBatchThatEndsLate: who has answered may end when others have, who were made later.
func TestBatchThatEndsLate(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	s.launches(1, 320)
	s.launches(2, 320)
	s.dies(1, 100)
	s.at(0, goReceive, 5, 640)
	s.at(0, goReceive, 5, 640)
	s.launches(3, 320)
	s.launches(4, 320)
	s.dies(3, 7)
	s.at(0, goReceive, 5, 640)
	s.at(0, goReceive, 5, 640)
	s.dies(2, 300)
	s.dies(4, 9)
	expect(t, s.Finish(), "goroutines 640 [[100 300] [7 9]]")
}

// TestBatchOfGroups: who was part of a group is part of nothing else; goroutines of
// which there is one are no section.
func TestBatchOfGroups(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	for id := profile.ThreadID(1); id < 3; id++ {
		s.launches(id, 320)
		s.at(id, goDone, 7, 160, 10)
	}
	s.launches(3, 336)
	s.at(0, goWait, 7, 480)
	s.at(0, goJoined, 7, 480)
	for id := profile.ThreadID(1); id < 4; id++ {
		s.dies(id, 1)
	}
	s.born(4, -1) // nobody knows who has made it
	s.dies(4)
	expect(t, s.Finish(), "goroutines 480 [[10 10]]")
}

// TestManyGoroutines: the first ones are compared, and it is said.
func TestManyGoroutines(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	for range 2 {
		for n := range mostParts + 5 {
			id := profile.ThreadID(len(s.threads))
			s.launches(id, 320)
			s.at(id, goDone, 7, 160, uint64(n+1))
		}
		s.at(0, goJoined, 7, 480) // it was not seen to wait
		s.at(0, goWait, 7, 480)
		s.at(0, goJoined, 7, 480)
	}
	got := s.Finish()
	if len(got) != 1 || len(got[0].Instances) != 2 || len(got[0].Instances[0].Parts) != mostParts {
		t.Fatalf("%d sections", len(got))
	}
	if w := got[0].Warnings; len(w) != 1 || w[0].Code != manyGoroutines || !strings.Contains(w[0].Message, "1029") {
		t.Errorf("%+v", w)
	}
}

func recordOf(kind uint32, tsc, object, site uint64) record.Record {
	return record.Record{Kind: kind, TSC: tsc, Arg1: object, Site: site}
}

// TestFoldedAlone: of instances that are folded what has as many parts as no other one is
// left out, of the sums, too, for it stands for nothing but itself.
func TestFoldedAlone(t *testing.T) {
	s := newGoScript()
	s.out.c.MaxBytes = 8000
	s.born(0, -1)
	for n := range 40 {
		width := 2
		if n == 3 {
			width = 5
		}
		for range width {
			id := profile.ThreadID(len(s.threads))
			s.launches(id, 320)
			s.at(id, goDone, 7, 160, uint64(id))
		}
		s.at(0, goWait, 7, 480)
		s.at(0, goJoined, 7, 480)
	}
	got := s.Finish()
	folded, sum := 0, uint64(0)
	for _, in := range got[0].Instances {
		if in.Folded > 1 {
			folded += in.Folded
		}
		if len(in.Parts) != 2 {
			t.Errorf("%d parts, folded %d", len(in.Parts), in.Folded)
		}
	}
	for _, q := range got[0].Totals {
		sum += q.Counts.Of(0)
	}
	if want := uint64(83*84/2 - 7 - 8 - 9 - 10 - 11); folded < 20 || folded+len(got[0].Instances)-1 != 39 || sum != want {
		t.Errorf("%d folded, %d in all; totals %d, want %d", folded, len(got[0].Instances), sum, want)
	}
	if w := got[0].Warnings; len(w) != 1 || w[0].Code != "left-out" {
		t.Errorf("%+v", w)
	}
}

// TestLeftOut: of instances that are folded, and have nothing in common with others,
// it is said that they are left out.
func TestLeftOut(t *testing.T) {
	s := newGoScript()
	s.out.c.MaxBytes = 1500
	s.born(0, -1)
	for width := 2; width < 5; width++ {
		for range width {
			id := profile.ThreadID(len(s.threads))
			s.launches(id, 320)
			s.at(id, goDone, 7, 160, 1)
		}
		s.at(0, goWait, 7, 480)
		s.at(0, goJoined, 7, 480)
	}
	got := s.Finish()
	if len(got) != 1 || got[0].Totals != nil || got[0].TimeNS != 0 || len(got[0].Instances) == 3 || len(got[0].Warnings) != 1 || got[0].Warnings[0].Code != "left-out" {
		t.Errorf("%+v", got)
	}
}
