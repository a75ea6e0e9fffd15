package caches

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// TestCallers: what libraries access counts as what called them; as nobody's it changes
// the caches and no count; and of who is erased it does not even happen.
func TestCallers(t *testing.T) {
	driver := filepath.Join(t.TempDir(), "drive")
	if out, err := exec.Command("gcc", "-O1", "-o", driver, "testdata/drive.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trace := []access{
		{size: 8, addr: 0x10000},                                  // 0: cold
		{size: 8, addr: 0x20000, called: 1},                       // 1: cold, the caller's
		{size: 8, addr: 0x30000, called: 2},                       // nobody's
		{size: 8, addr: 0x30008},                                  // hits what nobody fetched
		{size: 8, addr: 0x40000, write: true, called: 3},          // does not happen
		{size: 8, addr: 0x40000},                                  // 5: cold
		{size: 8, addr: 0x50000, write: true, called: 1},          // 6: cold, the caller's
		{size: 8, addr: 0x6003c, called: 2},                       // nobody's, two lines
		{core: 1, size: 8, addr: 0x50000, called: 2},              // nobody's, from another core
		{core: 1, size: 8, addr: 0x60040},                         // 9: from the other core's
		{core: 1, size: 8, addr: 0x70000, write: true, called: 2}, // nobody's, where there are several threads
		{core: 1, size: 8, addr: 0x70008},
		{core: 1, size: 8, addr: 0x80000, called: 3}, // does not happen
		{core: 1, size: 8, addr: 0x80000},            // 13: cold
		{core: 1, size: 8, addr: 0x90000, write: true, called: 3},
		{core: 1, size: 8, addr: 0x90000},                         // 15: cold
		{core: 1, size: 8, addr: 0xa0000, write: true, called: 1}, // 16: cold, the caller's
	}
	for _, ways := range []int{2, 1} { // with one the entries do nothing by themselves
		m := cachesim.Machine{Name: "m", Line: 64, L1: cachesim.Geometry{Size: 16 << 10, Ways: ways}, L3: cachesim.Geometry{Size: 256 << 10, Ways: 8}}
		l, err := NewLayout(m, Sample{}, len(trace))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := drive(t, driver, Code, l, len(trace), 2, trace)
		want := []string{0: " core 0 l3-miss/cold ×1", 1: " core 0 l3-miss/cold ×1", 5: " core 0 l3-miss/cold ×1", 6: " core 0 l3-miss/cold ×1", 9: " core 1 l2-miss/cold ×1", 13: " core 1 l3-miss/cold ×1", 15: " core 1 l3-miss/cold ×1", 16: " core 1 l3-miss/cold ×1"}
		if !slices.Equal(got, want) {
			t.Errorf("%d ways: %q, want %q", ways, got, want)
		}
	}
}
