package relocate

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// TestLookouts: what is said to be a look calls one, of the function that it is said to be
// in, and calls of looks are said to be such.
func TestLookouts(t *testing.T) {
	s := New(probetest.Open(t, probetest.Programs(t)[0]), probetest.NoHooks, probe.Options{Looks: true}, Numbers{})
	c, err := s.Assemble(s.Home())
	if err != nil {
		t.Fatal(err)
	}
	looks := map[uint64]bool{c.Base + threadarea.LookEntry: true, c.Base + threadarea.TakesEntry: true}
	arrive, stand := 0, 0
	for i, q := range s.plans {
		list := s.Lookouts(c, i)
		for _, l := range list {
			calls := 0
			for at := l.From; at < l.End; {
				in, err := x86.Decode(c.Bytes[at:l.End], c.Base+uint64(at))
				if err != nil {
					t.Fatalf("%s, +%#x: %v", q.Func.Name, at, err)
				}
				if in.Kind == x86.Call && looks[in.Target] {
					calls++
				}
				at += in.Len()
			}
			b := s.Program.Graph(q.Func, nil).BlockOf(l.Addr)
			if calls != 1 || b == nil || l.Arrives && b.Start != l.Addr || c.Function(uint64(l.From)) != i {
				t.Fatalf("%s: %+v calls %d looks, in block %v", q.Func.Name, l, calls, b)
			}
			if l.Arrives {
				arrive++
			} else {
				stand++
			}
		}
	}
	if arrive == 0 || stand == 0 {
		t.Errorf("%d looks on edges, %d in blocks", arrive, stand)
	}
}
