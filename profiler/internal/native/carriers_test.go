package native

import (
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/backend"
	"github.com/skewlens/skewlens/profiler/internal/goroutine"
)

// TestProcs: GOMAXPROCS is set for programs in Go that are kept together, unless it is
// set already; on how many threads goroutines run is said where that is no matter of
// course.
func TestProcs(t *testing.T) {
	for _, c := range []struct {
		name  string
		env   []string
		inGo  bool
		late  bool // the program was started before it was known what it is
		cores int
		want  []string
		said  string
	}{
		{"set for it", []string{"A=1"}, true, false, 8, []string{"A=1", "GOMAXPROCS=8"}, "GOMAXPROCS=8 was set for the program"},
		{"the user's", []string{"GOMAXPROCS=3"}, true, false, 8, []string{"GOMAXPROCS=3"}, "as GOMAXPROCS=3 says"},
		{"the same", []string{"GOMAXPROCS=8"}, true, false, 8, []string{"GOMAXPROCS=8"}, ""},
		{"empty is not set", []string{"GOMAXPROCS="}, true, false, 4, []string{"GOMAXPROCS=", "GOMAXPROCS=4"}, "GOMAXPROCS=4 was set"},
		{"others", []string{"A=1"}, false, false, 8, []string{"A=1"}, ""},
		{"not together", []string{"A=1"}, true, false, 0, []string{"A=1"}, ""},
		{"too late", []string{"A=1"}, true, true, 8, []string{"A=1"}, "set GOMAXPROCS=8"},
	} {
		src, j := source{}, backend.Job{Env: c.env, Cores: c.cores}
		if c.inGo {
			src.golang = &goroutine.Layout{}
		}
		if !c.late {
			src.setProcs(&j)
		}
		if !slices.Equal(j.Env, c.want) {
			t.Errorf("%s: %q", c.name, j.Env)
		}
		said := ""
		for _, w := range src.procsDoubt(j) {
			said += w.Message
		}
		if c.inGo && (!strings.Contains(said, c.said) || c.said == "" && said != "") {
			t.Errorf("%s: %q", c.name, said)
		}
	}
}
