package cli

import (
	"maps"
	"math"
	"os/exec"
	"slices"
	"testing"
)

// TestVirtualCores: threads that are kept together do what they do otherwise,
// are counted as otherwise, and share work that they take themselves as they
// would on cores of their own, however few there are here: of pieces that are
// all alike each takes as many.
func TestVirtualCores(t *testing.T) {
	realBench(t, 1)
	want := map[string]float64{ // imbalance at most, without it a half or so; −1: as otherwise
		"dynamic_counter_uniform": 0.07, "dynamic_queue_uniform": 0.07, "work_stealing": 0.1, "stealing_polls": 0.12,
		"std_barrier": -1, "cond_coordinator": -1, "spin_bounded_yield": -1, "pool_yield": -1, "spin_futex": -1, "recursive_threads": -1, "lock_holder": -1,
	}
	for _, i := range idioms(t) {
		most, is := want[i.name]
		if !is {
			continue
		}
		delete(want, i.name)
		t.Run(i.name, func(t *testing.T) {
			compiler := "gcc"
			if _, err := exec.LookPath(compiler); err != nil {
				t.Skip("no gcc")
			}
			i.expect = maps.Clone(i.expect)
			i.expect["percent"] = "20"
			b := &idiomBench{idiom: &i, variant: variant{compiler, "-O2", 8}, dir: t.TempDir()}
			if err := b.compile("prog", "-DPLANTED"); err != nil {
				t.Fatal(err)
			}
			before, printed, err := b.measure("prog")
			if err != nil {
				t.Fatal(err)
			}
			b.cores = 8
			r, again, err := b.measure("prog")
			if err != nil {
				t.Fatal(err)
			}
			if printed != again {
				t.Errorf("prints %q, otherwise %q", again, printed)
			}
			if r.Run.Virtual != 8 || before.Run.Virtual != 0 {
				t.Errorf("kept together as on %d cores, otherwise as on %d", r.Run.Virtual, before.Run.Virtual)
			}
			for _, w := range r.Warnings {
				if w.Code == "virtual-cores" {
					t.Error(w.Message)
				}
			}
			j := judge{b: b}
			was, now := j.sectionAt(before, "SECTION"), j.sectionAt(r, "SECTION")
			// On a busy machine chance has a hand in it: what is off must be off twice.
			if now != nil && now.Imbalance != nil && most >= 0 && *now.Imbalance > most {
				if r, _, err = b.measure("prog"); err != nil {
					t.Fatal(err)
				}
				now = j.sectionAt(r, "SECTION")
			}
			switch {
			case now == nil || was == nil || now.Imbalance == nil || was.Imbalance == nil:
				t.Errorf("no section:\n%s", summary(r))
			case most < 0 && math.Abs(*now.Imbalance-*was.Imbalance) > 0.001:
				t.Errorf("imbalance %v, otherwise %v", *now.Imbalance, *was.Imbalance)
			case most >= 0 && *now.Imbalance > most:
				t.Errorf("imbalance %v, want %v at most; otherwise it is %v", *now.Imbalance, most, *was.Imbalance)
			}
		})
	}
	if len(want) > 0 {
		t.Errorf("no idioms %v", slices.Collect(maps.Keys(want)))
	}
}
