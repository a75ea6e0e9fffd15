package caches

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// stacks is how far back accesses come, by lists that are searched: of each set, the
// lines of each core, and of all, in the order of their last use.
type stacks struct {
	of    map[[2]int][]uint64
	valid map[uint64]uint64 // by line, the cores that hold it
}

const everybody = -1

// touch returns the class that core, or everybody, has of an access.
func (s *stacks) touch(core int, line uint64) int {
	k := [2]int{core, int(line % 64)}
	list := s.of[k]
	at := slices.Index(list, line)
	if at < 0 {
		s.of[k] = append([]uint64{line}, list...)
		return First
	}
	s.of[k] = append([]uint64{line}, slices.Delete(slices.Clone(list), at, at+1)...)
	n := 0
	for _, size := range Sizes {
		if int64(at) >= size/64/64 {
			n++
		}
	}
	return n
}

// access is of one line; two: of an access to two, which moved code lets pass.
func (s *stacks) access(core int, line uint64, write, two bool) (own, all int) {
	if list := s.of[[2]int{core, int(line % 64)}]; !two && len(list) > 0 && list[0] == line && (s.valid[line] == 1<<core || !write && s.valid[line]>>core&1 != 0) {
		return 0, 0 // in front of the shared cache
	}
	all = s.touch(everybody, line)
	had := slices.Contains(s.of[[2]int{core, int(line % 64)}], line)
	own = s.touch(core, line)
	mine := uint64(1) << core
	switch {
	case had && s.valid[line]&mine == 0:
		own = Lost
	case !had && all != First:
		own = FromOther
	}
	if s.valid[line] |= mine; write {
		s.valid[line] = mine
	}
	return own, all
}

// TestReuse: every access of random traces comes from as far back as lists say, in
// caches of all sizes; and small ones among these are what package cachesim simulates.
func TestReuse(t *testing.T) {
	driver := filepath.Join(t.TempDir(), "drive")
	if out, err := exec.Command("gcc", "-O1", "-o", driver, "testdata/drive.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := map[int]int{}
	for seed := range uint64(14) {
		r := rand.New(rand.NewPCG(seed, 15))
		cores := max(1, r.IntN(7)-2)
		trace := reuseTrace(r, cores)
		n := len(trace)
		l, err := NewLayout(Filter, Sample{}, 2*n)
		if err != nil {
			t.Fatal(err)
		}
		code := Code
		if seed == 0 {
			code = compile(t)
		}
		got, h := drive(t, driver, code, l.WithReuse(n), 2*n, cores, trace)
		if h.Trouble() != "" {
			t.Errorf("seed %d: %s", seed, h.Trouble())
		}
		oracle := newOracles(cores)
		s := stacks{map[[2]int][]uint64{}, map[uint64]uint64{}}
		for i, a := range trace {
			own, all := 0, 0
			last := (a.addr + uint64(a.size) - 1) / 64
			for line := a.addr / 64; line <= last; line++ {
				x, y := s.access(a.core, line, a.write, a.addr/64 < last)
				own, all = max(own, x), max(all, y)
			}
			oracle.access(t, &a, own)
			seen[own]++
			for k, want := range []int{own, all} {
				text := ""
				if want > 0 {
					text = fmt.Sprintf(" core %d %v ×1", a.core, cachesim.Class(want))
				}
				if got[i+k*n] != text {
					t.Fatalf("seed %d, %d cores, access %d %+v: got%q, want%q (%d)", seed, cores, i, a, got[i+k*n], text, k)
				}
			}
		}
	}
	for class := range 16 {
		if class > 0 && seen[class] == 0 || len(seen) > 16 {
			t.Errorf("no access was of class %d: %v", class, seen)
		}
	}
}

// reuseTrace goes round some lines of few sets, some of them far, and stays at others.
func reuseTrace(r *rand.Rand, cores int) (list []access) {
	span := []int{8, 200, 3000, 12000}[r.IntN(4)]
	base := 1 + uint64(r.Int64N(1<<30))
	for i := range 25000 {
		a := access{core: r.IntN(cores), size: 1 + r.IntN(8), write: r.IntN(4) == 0}
		if i < 2000 {
			a.core = 0
		}
		line := base + 64*uint64(i%span)
		if r.IntN(3) == 0 {
			line = base + 64*uint64(r.IntN(span)) + uint64(r.IntN(2))
		}
		a.addr = line*64 + uint64(r.IntN(64))
		list = append(list, a)
		for r.IntN(2) == 0 { // again, by which it stays in front
			a.write = r.IntN(2) == 0
			list = append(list, a)
		}
	}
	return list
}

// oracles are simulated machines with one cache, of the smallest sizes.
type oracles []*cachesim.System

func newOracles(cores int) (list oracles) {
	for _, size := range Sizes[:5] { // of 64 ways at most
		list = append(list, cachesim.New(cachesim.Machine{Name: "one", Line: 64, L1: cachesim.Geometry{Size: size, Ways: int(size / 64 / 64)}}, cores))
	}
	return list
}

// access compares: an access misses in those that are too small for its class.
func (o oracles) access(t *testing.T, a *access, class int) {
	t.Helper()
	for i, s := range o {
		if missed := s.Access(a.core, a.addr, a.size, a.write, 0).Level != cachesim.Hit; missed != (class > i) {
			t.Fatalf("%+v: class %d, a cache of %d bytes misses: %v", a, class, Sizes[i], missed)
		}
	}
}
