package profiler_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestFilters: a program that forbids itself system calls (seccomp), on pain of death,
// does not die of ours, whichever way and whenever it does so; and it is said that no CPU
// clock is read any more.
func TestFilters(t *testing.T) {
	for _, build := range [][]string{{"-O2"}, {"-O2", "-static"}} {
		prog := proctest.Build(t, "gcc", append(build, "-g", "-pthread", filepath.Join("testdata", "filters.c"))...)
		for _, how := range []string{"kill prctl early", "kill prctl late", "kill tsync early", "kill tsync late", "kill raw early", "errno prctl early", "trap tsync late", "strict prctl early"} {
			t.Run(how+"/"+build[len(build)-1], func(t *testing.T) {
				watch(t)
				p := same(t, prog, strings.Fields(how)...)
				if !slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "cpu-clock" }) {
					t.Errorf("nothing is said of CPU clocks: %+v", p.Warnings)
				}
			})
		}
	}
}
