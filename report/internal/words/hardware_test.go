package words

import (
	"slices"
	"testing"

	"github.com/skewlens/skewlens/report"
)

func ptr[T any](v T) *T { return &v }

// TestHardware: what is not known is not said, and words agree with numbers.
func TestHardware(t *testing.T) {
	for _, c := range []struct {
		of   report.Hardware
		want []string
	}{
		{report.Hardware{}, nil},
		{report.Hardware{CPUS: ptr(0.25), PageFaults: ptr(uint64(1)), ContextSwitches: ptr(uint64(7)), Migrations: ptr(uint64(0))},
			[]string{"250 ms of CPU time", "1 page fault", "7 context switches", "0 migrations"}},
		{report.Hardware{Cycles: ptr(uint64(1)), IPC: ptr(1.5), CacheMisses: ptr(uint64(12))},
			[]string{"1 cycle", "1.50 instructions a cycle", "12 cache misses"}},
	} {
		if got := Hardware(&c.of); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestCountedOf: cycles are taken where all threads have them, else CPU time; where
// instructions are known neither is.
func TestCountedOf(t *testing.T) {
	both := &report.Hardware{Cycles: ptr(uint64(3_000_000)), CPUS: ptr(0.5)}
	timed := &report.Hardware{CPUS: ptr(0.25)}
	for _, c := range []struct {
		threads []report.Thread
		list    []uint64
		first   string
		unit    string
	}{
		{nil, nil, "", ""},
		{[]report.Thread{{Hardware: both}, {Hardware: both}}, []uint64{3_000_000, 3_000_000}, "3.00 M", " cycles"},
		{[]report.Thread{{Hardware: both}, {Hardware: timed}}, []uint64{500_000_000, 250_000_000}, "500 ms", " of CPU time"},
		{[]report.Thread{{Hardware: both}, {}}, nil, "", ""},
		{[]report.Thread{{Hardware: both, Instructions: 1}}, nil, "", ""},
	} {
		list, show, unit, known := CountedOf(&report.Section{Threads: c.threads})
		if !slices.Equal(list, c.list) || unit != c.unit || known != (c.unit != "") || known && show(list[0]) != c.first {
			t.Errorf("%v%s, known %v; want %v%s", list, unit, known, c.list, c.unit)
		}
	}
}
