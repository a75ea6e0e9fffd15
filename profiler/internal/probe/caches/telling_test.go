package caches

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// TestTelling: all accesses of random traces are told, in their order, and nothing is counted.
func TestTelling(t *testing.T) {
	driver := filepath.Join(t.TempDir(), "drive")
	if out, err := exec.Command("gcc", "-O1", "-o", driver, "testdata/drive.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 16))
		line, cores := []int{32, 64, 128, 256}[seed], 1+r.IntN(5)
		trace := randomTrace(r, cores, 5000)
		dir := t.TempDir()
		code, state, fronts := filepath.Join(dir, "code"), filepath.Join(dir, "state"), filepath.Join(dir, "fronts")
		way := 64 * line
		shared(t, fronts, uint64(cores*way))
		write(t, code, Code)
		x := NewTelling(line, shared(t, state, TellingSize), where)
		got := make([]string, len(trace))
		run(t, got, 0, trace, driver, code, state, fmt.Sprint(where), fmt.Sprint(len(trace)), fmt.Sprint(cores), fmt.Sprint(way), fronts)
		at := 0
		n := x.Take(len(trace)+1, func(a Told) {
			b := &trace[at]
			at++
			if a.Addr != b.addr || a.Core != b.core || a.Size != b.size || a.Write != b.write {
				t.Fatalf("seed %d: access %d is told as %+v: %+v", seed, at-1, a, b)
			}
		})
		if n != len(trace) || x.Counted() != uint64(n) || x.LeftOut() != 0 {
			t.Errorf("seed %d: %d of %d accesses were told, %d counted", seed, n, len(trace), x.Counted())
		}
		for i, what := range got {
			if what != "" {
				t.Fatalf("seed %d: access %d was counted in the target:%s", seed, i, what)
			}
		}
		x.Skip()
		if x.Counted() != uint64(n)+1 {
			t.Errorf("seed %d: nothing was passed over", seed)
		}
	}
	if CheckTelling(maxOps) != nil || CheckTelling(maxOps+1) == nil || toldCores != cachesim.MaxCores {
		t.Error("how many accesses can be told apart")
	}
}

// TestTellingGoesRound: what was written in an earlier round of the ring is not told again.
func TestTellingGoesRound(t *testing.T) {
	x := NewTelling(64, make([]byte, TellingSize), 0)
	entry := func(n uint64) {
		x.put(tellingRing+toldSize*(n%toldRing), n)
		x.put(tellingRing+toldSize*(n%toldRing)+8, 7<<32|3<<20|1<<19|n/toldRing&255<<11|8<<1|1)
	}
	next := uint64(0)
	for range 600 * 7 {
		for range toldRing / 7 {
			entry(next)
			next++
		}
		x.Take(toldRing, func(a Told) {
			if a.Op != 7 || a.Core != 3 || a.Size != 8 || !a.Write {
				t.Fatalf("%+v", a)
			}
		})
		if x.Counted() != next {
			t.Fatalf("%d of %d", x.Counted(), next)
		}
	}
	entry(next - toldRing)
	if n := x.Take(1, func(Told) {}); n != 0 {
		t.Error("a round too old was told")
	}
}
