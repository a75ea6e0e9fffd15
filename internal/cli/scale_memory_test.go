package cli

import (
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/report/scaling"
)

// accounted checks what a report says of a program whose threads share memory or a
// cache. How much they slow each other down is the machine's affair: two cores seldom
// use up what memory gives. Whatever it is, it is accounted for: either work inflates, and
// then the line that does it is named, or no line is.
func accounted(t *testing.T, r *scaling.Report, file string) {
	t.Helper()
	p := &r.Points[1]
	if p.IdleS == nil || p.InflationS == nil {
		holds(t, r, false, "idle time and inflation are not known")
		return
	}
	core := float64(p.P) * p.TimeS
	t.Logf("%s: inflation %.3f s, idle %.3f s of %.3f s of core time", file, *p.InflationS, *p.IdleS, core)
	switch {
	case *p.InflationS-2**p.InflationSD > .15*core:
		named := len(r.Lines) > 0 && filepath.Base(r.Lines[0].Location.File) == file
		holds(t, r, named, "work inflates, and its line is not named")
		holds(t, r, r.Together != nil && (r.Together.Uncertain || r.Together.BesideS > r.Together.ThreadsS), "it is not said that it comes from running at the same time")
	case *p.InflationS < .03*core:
		holds(t, r, len(r.Lines) == 0, "work does not inflate, and a line is named")
	}
}

// Streaming through memory is inflation where it uses up the bandwidth, and nothing where
// it does not.
func TestStreamingIsAccountedFor(t *testing.T) {
	accounted(t, scaledProgram(t, "stream", "4000000", "20"), "stream.c")
}

// So is writing through it, of which two cores may do as much as memory takes in.
func TestStoresAreAccountedFor(t *testing.T) {
	accounted(t, scaledProgram(t, "stores", "16000000", "60"), "stores.c")
}

// Tables that fit a shared cache alone, but not together, inflate; where they fit, or never
// do, they do not.
func TestTablesAreAccountedFor(t *testing.T) {
	accounted(t, scaledProgram(t, "tables", "2000000", "50000000"), "tables.c")
}
