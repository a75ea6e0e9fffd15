package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// helped is a team of two, the first of which has a helper in each round while it works.
// helper is how much that does, main whether the first is who created the team.
func helped(main bool, helper uint64) *script {
	s := newScript(1 << 20)
	s.born(0, -1)
	s.Record(0, record.Record{Kind: barrierInit, TSC: s.tick(), Arg1: 7, Arg3: 2})
	id := func(i int) profile.ThreadID { return profile.ThreadID(i) }
	a, b, next := 1, 2, 3
	if main {
		a, b, next = 0, 1, 2
	}
	for i := 1; i < next; i++ {
		s.creates(0, 64)
		s.born(id(i), 0)
		s.Handle(id(i), uint64(100+i))
	}
	for range 3 {
		s.at(id(a), create, 0, 480, 3)
		s.born(id(next), id(a))
		s.Handle(id(next), uint64(100+next))
		s.dies(id(next), helper)
		s.at(id(a), join, uint64(100+next), 320, 90)
		s.at(id(a), barrierWait, 7, 160, 7)
		s.at(id(b), barrierWait, 7, 160, 100)
		s.at(id(a), barrierLeft, 7, 160)
		s.at(id(b), barrierLeft, 7, 160)
		next++
	}
	return s
}

// TestHelpersBetweenMeetings: what a thread of a team did before it created a helper, and
// what it or the helper did while that ran, if that was more, is of its part.
func TestHelpersBetweenMeetings(t *testing.T) {
	const met = "barrier 160 [[10 100] [10 100] [10 100]]"
	for _, c := range []struct {
		main         bool
		helper, most uint64
		want         []string
	}{
		{false, 2, 90, []string{met}},
		{true, 2, 90, []string{met}},
		{false, 200, 200, []string{"join 320 [[90 200] [90 200] [90 200]]", met}},
	} {
		got := helped(c.main, c.helper).Finish()
		expect(t, got, c.want...)
		for _, in := range got[len(got)-1].Instances {
			if n := in.Parts[0].Inner.N; len(n) != 1 || n[0] != c.most {
				t.Errorf("main %v, helper %d: it was busy with %v while it had that, want %d", c.main, c.helper, n, c.most)
			}
		}
	}
}
