package profiler_test

import (
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestWaits: signals, cancellation and forks come to threads that wait, as if
// nobody timed that; and what they waited for is known.
func TestWaits(t *testing.T) {
	bin := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", filepath.Join("testdata", "waits.c"))
	for _, flags := range []string{"0", "1"} { // SA_RESTART
		p := same(t, bin, flags)
		kinds := map[profile.WaitKind]int{}
		for i := range p.Sections {
			for _, q := range p.Sections[i].PartsByThread() {
				for _, w := range q.Waits {
					kinds[w.Kind] += w.N
					if w.Site == 0 {
						continue // in a thread's first or last steps nobody has called
					}
					if l, ok := p.Location(w.Site); !ok || filepath.Base(l.File) != "waits.c" {
						t.Errorf("a wait by %s at %v", w.Kind, l)
					}
				}
			}
		}
		for _, k := range []profile.WaitKind{profile.WaitSleep, profile.WaitIO, profile.WaitLock, profile.WaitCondition} {
			if kinds[k] == 0 {
				t.Errorf("nobody waited by %s: %v", k, kinds)
			}
		}
		for _, w := range p.Warnings {
			if w.Code == "waits" {
				t.Error(w.Message)
			}
		}
	}
}
