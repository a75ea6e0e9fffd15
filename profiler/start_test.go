package profiler_test

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestStartsOfCPlusPlus: a std::thread begins in the user's function, whatever
// the library calls it by, also where all of it was inlined.
func TestStartsOfCPlusPlus(t *testing.T) {
	// The lines that may stand for each, of testdata/starts.cc.
	want := [][2]int{{7, 8}, {15, 17}, {20, 22}, {33, 35}, {7, 8}}
	for _, compiler := range []string{"g++", "clang++"} {
		for _, opt := range []string{"-O0", "-O2"} {
			t.Run(compiler+opt, func(t *testing.T) {
				p := run(t, proctest.Build(t, compiler, opt, "-g", "-pthread", "testdata/starts.cc"))
				if len(p.Threads) != len(want)+1 {
					t.Fatalf("%d threads", len(p.Threads))
				}
				for i, w := range want {
					l, ok := p.Location(p.Threads[i+1].Start)
					found := false
					for _, f := range l.Frames() {
						found = found || !f.System() && f.Line >= w[0] && f.Line <= w[1]
					}
					if !ok || !found {
						t.Errorf("thread %d begins at %+v, want line %d to %d", i+1, l, w[0], w[1])
					}
				}
			})
		}
	}
}
