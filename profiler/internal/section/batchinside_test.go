package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestInside: who waits for others, and is waited for, has waited for the longest part:
// in a group, or in a batch that may be filed before or after; but not who worked itself
// meanwhile.
func TestInside(t *testing.T) {
	for _, c := range []struct {
		name           string
		channel, again bool
		late           bool
		own, inner     uint64
	}{
		{"a group", false, false, false, 40, 500}, {"a group, at work meanwhile", false, false, false, 1000, 0},
		{"a batch", true, false, false, 40, 500}, {"a batch, at work meanwhile", true, false, false, 1000, 0}, {"a batch that is over", true, true, false, 40, 500},
		{"a batch that ends late", true, false, true, 40, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newGoScript()
			s.born(0, -1)
			s.launches(1, 320)
			s.launches(2, 320)
			for i, n := range []uint64{30, 500} {
				id := profile.ThreadID(3 + i)
				s.at(1, goMakes, 0, 320, 100)
				s.born(id, 1)
				s.Made(id, uint64(id), 384, 64, false)
				if !c.channel {
					s.at(id, goDone, 9, 160, n)
				}
			}
			if c.channel {
				s.at(1, goReceive, 5, 560, c.own)
				s.at(1, goReceive, 5, 560)
				if !c.late {
					s.dies(3, 30)
					s.dies(4, 500)
				}
			} else {
				s.at(1, goWait, 9, 560, c.own)
				s.at(1, goJoined, 9, 560)
			}
			if c.again {
				s.at(1, goMakes, 0, 320)
			}
			s.at(1, goDone, 7, 160, 10)
			s.at(2, goDone, 7, 160, 20)
			s.at(0, goWait, 7, 480)
			s.at(0, goJoined, 7, 480)
			if c.late {
				s.dies(3, 30)
				s.dies(4, 500)
			}
			for _, x := range s.Finish() {
				p := x.Instances[0].Parts
				if x.Site == 480 && (p[0].Inner.Of(0) != c.inner || p[1].Inner.Of(0) != 0) {
					t.Errorf("%+v", p)
				}
				if x.Site != 480 && (x.Site != 560 || p[0].Counts.Of(0) != 30 || p[1].Counts.Of(0) != 500) {
					t.Errorf("at %d: %+v", x.Site, p)
				}
			}
		})
	}
}

// TestCoroutines: what ran by turns with a goroutine, and has ended by the end of its part,
// is what it waited for; and the first one, which did nothing itself, has no part for that.
func TestCoroutines(t *testing.T) {
	s := newGoScript()
	s.born(0, -1)
	for id := profile.ThreadID(1); id <= 2; id++ {
		s.launches(id, 320)
		s.born(2+id, id)
		s.Made(2+id, uint64(2+id), 384, 64, true)
	}
	s.dies(3, 700)
	s.dies(4, 30)
	s.at(1, goDone, 7, 160, 10)
	s.at(2, goDone, 7, 160, 20)
	s.at(0, goWait, 7, 480, 9)
	s.at(0, goJoined, 7, 480)
	list := s.Finish()
	expect(t, list, "goroutines 480 [[10 20]]")
	for i, want := range []uint64{700, 30} {
		if p := list[0].Instances[0].Parts[i]; p.Inner.Of(0) != want {
			t.Errorf("%d: %+v", i, p)
		}
	}
	x := profile.Thread{ID: 3, BeginNS: 1 << 40}
	if s.Tie(&x); x.Joiner != 2 || x.Creator != 2 || x.CreatedNS == 0 || x.JoinedNS <= x.CreatedNS {
		t.Errorf("%+v", x)
	}
}
