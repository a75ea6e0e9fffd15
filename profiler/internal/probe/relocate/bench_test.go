package relocate

import (
	"os"
	"runtime"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe"
	"github.com/skewlens/skewlens/profiler/internal/probe/probetest"
)

// BenchmarkAnalyse plans and assembles the program that SKEWLENS_BIG names,
// by default this test's own directory's compiler; it reports the heap in use
// at the end.
func BenchmarkAnalyse(b *testing.B) {
	path := os.Getenv("SKEWLENS_BIG")
	if path == "" {
		path = "/bin/bash"
	}
	b.ReportAllocs()
	for b.Loop() {
		im, err := image.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		p := cfg.Build(im, probetest.Catches)
		s := New(p, probetest.NoHooks, probe.Options{}, Numbers{})
		c, err := s.Assemble(s.Home())
		if err != nil {
			b.Fatal(err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapInuse)/1e6, "MB-in-use")
		b.ReportMetric(float64(len(c.Bytes))/1e6, "MB-code")
		runtime.KeepAlive(s)
	}
}
