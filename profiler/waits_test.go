package profiler_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestWaits: signals, cancellation and forks come to threads that wait, as if
// nobody timed that; and what they waited for is known.
func TestWaits(t *testing.T) {
	source := filepath.Join("testdata", "waits.c")
	shared := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", source)
	static := proctest.Build(t, "gcc", "-O2", "-g", "-static", "-pthread", source)
	for _, run := range [][2]string{{shared, "0"}, {shared, "1"}, {static, "0"}, {static, "1"}} { // SA_RESTART
		p := same(t, run[0], run[1])
		kinds := map[profile.WaitKind]int{}
		for i := range p.Sections {
			for _, q := range p.Sections[i].PartsByThread() {
				for _, w := range q.Waits {
					kinds[w.Kind] += w.N
					if w.Site == 0 {
						continue // in a thread's first or last steps nobody has called
					}
					l, ok := p.Location(w.Site)
					if run[0] == static && ok && (w.Kind == profile.WaitFault || strings.HasPrefix(l.Function, "__lll_")) {
						continue // likewise: what is not called by the program is part of it
					}
					if !ok || filepath.Base(l.File) != "waits.c" {
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
			if w.Code == "waits" && !strings.HasPrefix(w.Message, "signals interrupted ") {
				t.Error(w.Message)
			}
		}
	}
}
