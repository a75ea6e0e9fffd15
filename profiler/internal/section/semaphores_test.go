package section

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
)

// TestSemaphores: who sends before each goroutine that it makes, and then fills the channel at
// another line, waits there for all of them. Where it fills it once, or on another channel, or
// has made one without, all that is known is the go statement, and all are one batch.
func TestSemaphores(t *testing.T) {
	const acquires, makes, fills, empties = 400, 320, 352, 384
	for _, c := range []struct {
		name  string
		fills int
		on    uint64
		first bool // the first one is made without
		want  []string
	}{
		{"filled", 2, 5, false, []string{"goroutines 352 [[1 2 3] [4 5 6]]"}},
		{"filled once", 1, 5, false, []string{"goroutines 320 [[1 2 3 4 5 6]]"}},
		{"another channel", 2, 6, false, []string{"goroutines 320 [[1 2 3 4 5 6]]"}},
		{"not all", 2, 5, true, []string{"goroutines 320 [[1 2 3 4 5 6]]"}},
	} {
		s := newGoScript()
		s.born(0, -1)
		for round := range profile.ThreadID(2) {
			for k := profile.ThreadID(1); k <= 3; k++ {
				if k > 1 || !c.first {
					s.at(0, goSend, 5, acquires)
				}
				s.launches(3*round+k, makes)
			}
			for k := profile.ThreadID(1); k <= 3; k++ {
				s.dies(3*round+k, uint64(3*round+k))
			}
			for range c.fills {
				s.at(0, goSend, c.on, fills)
			}
			if c.want[0][:14] == "goroutines 352" {
				s.at(0, goReceive, c.on, empties) // there is room again
			}
		}
		t.Run(c.name, func(t *testing.T) { expect(t, s.Finish(), c.want...) })
	}
}
