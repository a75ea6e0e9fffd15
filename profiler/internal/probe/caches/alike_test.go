package caches

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// TestAlike: of lines of which the bytes are the same by which they are found in the first level,
// in sets that have several of them, it is their tags that say which way they have; there may be
// more of them than ways of which a word has the bytes, or the order.
func TestAlike(t *testing.T) {
	driver := filepath.Join(t.TempDir(), "drive")
	if out, err := exec.Command("gcc", "-O1", "-o", driver, "testdata/drive.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, ways := range []int{1, 2, 3, 7, 8, 9, 12, 15, 16, 17} {
		for _, outer := range []int{2, 8, 16, 18} {
			m := cachesim.Machine{Name: "alike", Line: 64, Latency: cachesim.DefaultLatency}
			m.L1 = cachesim.Geometry{Size: int64(64 * ways * 64), Ways: ways}
			m.L2 = cachesim.Geometry{Size: int64(1024 * outer * 64), Ways: outer}
			m.L3 = cachesim.Geometry{Size: 1024 * 16 * 64, Ways: 16}
			for _, cores := range []int{2, 5} {
				r := rand.New(rand.NewPCG(uint64(ways), uint64(outer*cores)))
				name := fmt.Sprintf("%d and %d ways, %d cores", ways, outer, cores)
				compare(t, name, driver, Code, m, Sample{}, cores, alikeTrace(r, cores, ways+5, 4000))
			}
		}
	}
}

// alikeTrace is of lines alike: some in each of 8 sets of the first level, and others beside.
func alikeTrace(r *rand.Rand, cores, lines, n int) []access {
	var of [8][]uint64
	for set := range of {
		for line := uint64(1<<32 + set); len(of[set]) < lines; line += 64 {
			if len(of[set])%3 == 2 || line*0x9e3779b97f4a7c15>>56 == uint64(set) {
				of[set] = append(of[set], line)
			}
		}
	}
	list := make([]access, n)
	for i := range list {
		line := of[r.IntN(8)][r.IntN(lines)]
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
