package solve

import (
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestHardware: what the kernel or the processor counts is what it was told, whatever
// program it is of; and where it is not to be trusted, it is not there.
func TestHardware(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		v := New(threadarea.NewLayout(nil, 0))
		cycles, at := v.Hardware("cycles", 0), v.Hardware(profile.CacheMiss, 0x1234)
		if cycles == at || cycles != v.Hardware("cycles", 0) || at != v.Hardware(profile.CacheMiss, 0x1234) || at == v.Hardware(profile.CacheMiss, 0x1235) {
			t.Fatalf("counters %d and %d", cycles, at)
		}
		d := record.Add([]record.Delta{{Counter: cycles, N: 5}, {Counter: at, N: 2003}}, []record.Delta{{Counter: cycles, N: 7}})
		if n := v.Work(d); n != 0 {
			t.Errorf("they are %d instructions", n)
		}
		c := v.Solve(d)
		if !trusted {
			v.NoHardware()
		}
		_, events, number := v.Graph()
		c = v.Numbered(c, number)
		got := map[string]uint64{}
		for i, e := range c.Event {
			ev := &events[e]
			if ev.Kind != profile.Hardware || ev.Total() != (ev.Name == "cycles") || ev.Superior != profile.NoEvent {
				t.Errorf("%+v", ev)
			}
			got[ev.Name] += c.N[i]
		}
		if trusted && (got["cycles"] != 12 || got[profile.CacheMiss] != 2003 || len(events) != 3) || !trusted && len(events)+len(got) > 0 {
			t.Errorf("trusted %v: %v, %d events", trusted, got, len(events))
		}
	}
}
