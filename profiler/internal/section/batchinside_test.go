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
				s.Made(id, 384, 64)
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
