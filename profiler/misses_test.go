package profiler_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// sameLibraries has the C library choose the same functions under valgrind, whose
// processor knows less than others, and here, and the same ways in them, which depend
// on the caches of the processor; and it binds all of them before the program runs. All
// blocks of memory are one behind the other, wherever the kernel would have put large ones.
var sameLibraries = append(os.Environ(), "LD_BIND_NOW=1", "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-FSRM,-RTM:"+
	"glibc.cpu.x86_rep_movsb_threshold=0x40000000:glibc.cpu.x86_rep_stosb_threshold=0x40000000:glibc.cpu.x86_non_temporal_threshold=0x40000000:"+
	"glibc.cpu.x86_data_cache_size=0x8000:glibc.cpu.x86_shared_cache_size=0x100000:glibc.malloc.mmap_threshold=0x1000000")

// missesOf are what a run misses, by cachegrind's names.
func missesOf(p *profile.Profile) map[string]uint64 {
	n := map[string]uint64{}
	c := p.Threads[0].Totals
	for k, e := range c.Event {
		ev := &p.Events[e]
		if ev.Kind != profile.Hardware || ev.Reason == "" {
			continue
		}
		rw := "r"
		if ev.Writes {
			rw = "w"
		}
		n["D1m"+rw] += c.N[k]
		if ev.Name == "l2-miss" { // of the shared one, the second level that there is
			n["DLm"+rw] += c.N[k]
		}
	}
	return n
}

// TestCachesAgainstCachegrind: a single thread's misses are cachegrind's, with all that
// the program does in libraries. What the dynamic linker does before is not seen here; so
// what is missed by a program that ends at once is taken off of both.
func TestCachesAgainstCachegrind(t *testing.T) {
	const d1, ll = "32768,8,64", "524288,16,64"
	m := machine(t, "line = 64\n[l1]\nsize = \"32K\"\nways = 8\n[l3]\nsize = \"512K\"\nways = 16\n")
	programs, _ := filepath.Glob("testdata/misses/*.c*")
	if len(programs) < 10 {
		t.Fatalf("%d programs", len(programs))
	}
	for _, src := range programs {
		t.Run(filepath.Base(src), func(t *testing.T) {
			compiler := "gcc"
			if filepath.Ext(src) == ".cc" {
				compiler = "g++"
			}
			prog := proctest.Build(t, compiler, "-O2", "-g", src, "-lm")
			run := func(args ...string) (got, want map[string]uint64) {
				p := runWith(t, profiler.Config{Path: prog, Args: args, Env: sameLibraries, Events: []string{"edges", "cache"}, Machine: m})
				return missesOf(p), proctest.Cachegrind(t, d1, ll, sameLibraries, prog, args...)
			}
			zero, zeroWant := run("0")
			got, want := run()
			for _, e := range []string{"D1mr", "D1mw", "DLmr", "DLmw"} {
				a, b := float64(got[e])-float64(zero[e]), float64(want[e])-float64(zeroWant[e])
				t.Logf("%s %8.0f, cachegrind %8.0f (%+.3f %%); before: %d, %d", e, a, b, 100*(a-b)/b, zero[e], zeroWant[e])
				if math.Abs(a-b) > 0.001*b+20 {
					t.Errorf("%s %.0f, cachegrind %.0f", e, a, b)
				}
			}
		})
	}
}
