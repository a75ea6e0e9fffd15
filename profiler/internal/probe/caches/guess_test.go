package caches

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// TestGuessedWrong: of lines for which the same way is remembered, in sets that have several
// of them, it is the second level that says which way they have, where it is packed: it has sets
// enough for that here, but not with 18 ways.
func TestGuessedWrong(t *testing.T) {
	driver := filepath.Join(t.TempDir(), "drive")
	if out, err := exec.Command("gcc", "-O1", "-o", driver, "testdata/drive.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, ways := range []int{2, 8, 16, 18} {
		m := cachesim.Machine{Name: "guess", Line: 64, Latency: cachesim.DefaultLatency}
		m.L1 = cachesim.Geometry{Size: 64 * 8 * 64, Ways: 8}
		m.L2 = cachesim.Geometry{Size: int64(1024 * ways * 64), Ways: ways}
		m.L3 = cachesim.Geometry{Size: 1024 * 16 * 64, Ways: 16}
		for _, cores := range []int{2, 5} {
			r := rand.New(rand.NewPCG(uint64(ways), uint64(cores)))
			compare(t, fmt.Sprintf("%d ways, %d cores", ways, cores), driver, Code, m, Sample{}, cores, alikeTrace(r, cores, 4000))
		}
	}
}

// alikeTrace is of lines alike: 12 in each of 8 sets of the first level.
func alikeTrace(r *rand.Rand, cores, n int) []access {
	list := make([]access, n)
	for i := range list {
		set, other := uint64(r.IntN(8)), uint64(r.IntN(12))
		line := uint64(1<<32) | other<<22 ^ set<<guesses ^ set
		list[i] = access{core: r.IntN(cores), size: 8, addr: line<<6 | uint64(r.IntN(8))*8, write: r.IntN(3) == 0}
		if i < n/8 {
			list[i].core = 0
		}
		if i%3 == 1 {
			list[i].called = 1
		}
	}
	return list
}
