package section

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// TestGoParks: a goroutine waits until another one lets it go on, or else until it does, and
// that other one's call ended it. What is short is no wait, nor what began before the part.
func TestGoParks(t *testing.T) {
	const receive, send, sleep, read = 160, 224, 240, 256
	s := newScriptOf4()
	at := func(id profile.ThreadID, name string, tsc, site, number, since uint64) {
		s.Record(id, record.Record{Kind: hookOf(name).Arrive, TSC: tsc, Site: site, Arg1: number, Arg3: since})
	}
	at(2, record.Woke, 50_000, send, 11, 0)
	at(1, record.Parked, 70_000, receive, 11, 10_000) // it waited for a core
	at(1, record.Slept, 200_000, sleep, 11, 100_000)
	at(3, record.Parked, 201_000, receive, 13, 199_000)
	at(3, record.Polled, 260_000, read, 13, 220_000)
	at(4, record.Parked, 270_000, receive, 14, 1) // from before
	at(2, record.Woke, 280_000, send, 14, 0)
	at(2, record.Woke, 281_000, send, 13, 0)
	at(4, record.Parked, 330_000, receive, 14, 290_000) // that was an earlier one's end
	s.now = 400_000
	list := s.joins4(t)
	for i, want := range []struct {
		waits []profile.Wait
		wakes []profile.Wake
	}{
		{[]profile.Wait{{Kind: profile.WaitCondition, Site: receive, NS: 40_001, N: 1}, {Kind: profile.WaitSleep, Site: sleep, NS: 100_000, N: 1}},
			[]profile.Wake{{Kind: profile.WaitCondition, Site: receive, By: send, Thread: 2, NS: 40_000}}},
		{},
		{waits: []profile.Wait{{Kind: profile.WaitIO, Site: read, NS: 40_000, N: 1}}},
		{waits: []profile.Wait{{Kind: profile.WaitCondition, Site: receive, NS: 40_000, N: 1}}},
	} {
		p := list[0].Instances[0].Parts[i]
		if !slices.Equal(p.Waits, want.waits) {
			t.Errorf("goroutine %d has waited %v, want %v", i+1, p.Waits, want.waits)
		}
		check(t, [][]profile.Wake{p.Wakes}, want.wakes)
	}
	if IsPark(hookOf("sync.(*WaitGroup).Wait").Arrive) || !IsPark(hookOf(record.Woke).Arrive) {
		t.Error("which records are of waits is not known")
	}
}
