package threadarea

import (
	"fmt"
	"math"
	"testing"
)

// BenchmarkArrival reports what a record costs, in ticks of the time stamp
// counter, of processes with so many counters, ten a function, where each or
// every twentieth function was entered.
func BenchmarkArrival(b *testing.B) {
	for _, counters := range []int32{1000, 10_000, 100_000} {
		for _, of := range []int32{1, 20} {
			b.Run(fmt.Sprintf("%d/entered1of%d", counters, of), func(b *testing.B) {
				var funcs []Function
				for i := range counters / 10 {
					funcs = append(funcs, Function{Chords: 10 * (i + 1), Sites: i / 2, Always: i%of == 0})
				}
				best := uint64(math.MaxUint64)
				for b.Loop() {
					p := newProcessOf(NewLayout(funcs, 0), 1<<63)
					for range 100 {
						p.record(1 | ScanBit)
					}
					if sig := p.run(b); sig != 0 {
						b.Fatal(sig)
					}
					at := p.l.ring
					for range 99 {
						best = min(best, p.area.get(at+recordHeader+8)-p.area.get(at+8))
						at += recordHeader
					}
				}
				b.ReportMetric(float64(best), "ticks/arrival")
			})
		}
	}
}
