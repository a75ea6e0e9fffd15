package native

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// idleGates are three that nothing is known of, and the area of a thread that passes them.
func idleGates() (*gates, *threadarea.Area) {
	l := threadarea.NewLayout([]threadarea.Function{{Chords: 8, Always: true}}, 0)
	common := threadarea.NewCommon(l, make([]byte, l.Size()), 0)
	gs := newGates(nil, nil)
	for range 3 {
		gs.all = append(gs.all, placed{Region: &cfg.Region{Idle: true}})
	}
	return gs, threadarea.New(common, make([]byte, l.Size()), 0, 0, 0, 0)
}

// TestIdleGatesClose: a thread hears of gates that were decided, also where none
// but idle ones have ever been passed.
func TestIdleGatesClose(t *testing.T) {
	gs, area := idleGates()
	trial := area.GateIs(0)
	gs.decided(1, false)
	gs.decided(2, true)
	gs.tell(area)
	for n, want := range []uint32{trial, 0, forEver} {
		if got := area.GateIs(int32(n)); got != want || trial == 0 {
			t.Errorf("gate %d may make %d records, want %d", n, got, want)
		}
	}
}

// TestUndecidedGatesGoOn: a gate that has made all records that it might goes on, unless
// it was decided that it is of no interest.
func TestUndecidedGatesGoOn(t *testing.T) {
	gs, area := idleGates()
	trial := area.GateIs(0)
	gs.decided(1, false)
	area.OpenGate(0, 0)
	area.OpenGate(1, 0)
	area.OpenGate(2, 7)
	gs.try(area)
	for n, want := range []uint32{trial, 0, 7} {
		if got := area.GateIs(int32(n)); got != want {
			t.Errorf("gate %d may make %d records, want %d", n, got, want)
		}
	}
	gs.all[2].Region.Idle = false // nobody says when that is enough
	for range mostTries + 1 {
		area.OpenGate(0, 0)
		area.OpenGate(2, 0)
		gs.try(area)
	}
	if area.GateIs(0) != trial || area.GateIs(2) != 0 {
		t.Errorf("passed again and again, an idle gate may make %d records, another one %d", area.GateIs(0), area.GateIs(2))
	}
}
