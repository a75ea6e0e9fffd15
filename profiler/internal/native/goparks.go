package native

import (
	"encoding/binary"
	"fmt"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// parks are the waits of goroutines for each other, for their time and for files that were
// recorded. They are made in the runtime, and of those that it makes for its own ends nobody
// wants to know.
type parks struct {
	told, untold float64 // ticks: of those, and of others
}

// beginParks says when the profiler has begun, so that no more are recorded than it has time
// for (switch.S in package goroutine).
func beginParks(pool []byte) {
	const since = 16
	binary.LittleEndian.PutUint64(pool[since:], rdtsc())
}

// ended is told that a goroutine has.
func (gs *goroutines) ended(t *thread) {
	if gs != nil {
		gs.parks.untold += float64(t.area.Untold())
	}
}

// parked takes the record that a goroutine goes on which has waited, or lets one go on.
func (ts *threads) parked(t *thread, rec *record.Record) {
	gs := ts.goroutines
	if rec.Arg3 != 0 {
		gs.parks.told += float64(rec.TSC - rec.Arg3)
	}
	chain := ts.calls.led(rec.Site, rec.Stack)
	for len(chain) > 0 && gs.inRuntime(chain[0]) {
		chain = chain[1:]
	}
	if len(chain) > 0 {
		rec.Site, rec.Chain, rec.Stack = chain[0], chain, nil
		ts.tracker.Record(t.id, *rec)
	}
}

// doubts says which part of the waits is not recorded, where that is a twentieth of all, and
// of the run.
func (p *parks) doubts(run uint64) []profile.Warning {
	const matters = 20
	if least := max(p.told+p.untold, float64(run)); p.untold < least/matters {
		return nil
	}
	return []profile.Warning{{Code: "waits", Message: fmt.Sprintf("goroutines waited so often, or so shortly, for others by channels and conditions, for their time or for files, that %.0f %% of that time is not known",
		100*p.untold/(p.told+p.untold))}}
}
