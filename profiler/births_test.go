package profiler_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// births builds testdata/births.c, in which hundreds of threads are born and die
// before one does what is asked. Each says so if it is traced, which no thread
// is without the profiler, nor any that is born after many.
func births(t *testing.T) string {
	return proctest.Build(t, "gcc", "-O2", "-g", "-pthread", filepath.Join("testdata", "births.c"))
}

// TestBirths: whatever a thread does that nobody traces, the program does what
// it does alone, and leaves nothing behind.
func TestBirths(t *testing.T) {
	prog := births(t)
	for _, what := range []string{"nothing", "nest", "detached", "many", "c11", "raw", "vm", "fork", "vfork", "spawn", "system", "exec", "exec-fails", "exit", "_exit",
		"handler", "sys-exit", "pthread-exit", "cancel", "cancel-async", "records", "segv", "abort", "term", "kill", "outlives", "main-ends"} {
		t.Run(what, func(t *testing.T) {
			watch(t)
			p := same(t, prog, what)
			lost := slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "killed" })
			if dies := slices.Contains([]string{"segv", "abort", "kill", "term"}, what); lost && !dies {
				t.Errorf("a thread was lost: %+v", p.Warnings)
			}
		})
	}
}

// TestBirthsLarge: in a program that says which functions its threads enter, a creator's
// area is as it was.
func TestBirthsLarge(t *testing.T) {
	watch(t)
	p := same(t, proctest.Build(t, "gcc", "-O2", "-g", "-pthread", filepath.Join("testdata", "births_large.c")))
	if p.Run.ExitCode != 0 || len(p.Threads) != 1001 {
		t.Errorf("exit code %d, %d threads", p.Run.ExitCode, len(p.Threads))
	}
}

// TestBirthsCount: threads that nobody traces count as exactly as others do,
// however they are created and however they end.
func TestBirthsCount(t *testing.T) {
	prog := births(t)
	for _, what := range []string{"nothing", "nest", "c11", "exit", "sys-exit", "pthread-exit", "cancel", "outlives", "main-ends"} {
		t.Run(what, func(t *testing.T) {
			watch(t)
			compare(t, prog, what)
		})
	}
}

// TestBirthsOrder: threads have their numbers in the order in which they were
// created, and their creators.
func TestBirthsOrder(t *testing.T) {
	watch(t)
	const births = 1000
	_, _, p := profiled(t, proctest.Build(t, "gcc", "-O0", "-g", "-pthread", filepath.Join("testdata", "births.c")), "nothing", "1000")
	if len(p.Threads) != births+2 {
		t.Fatalf("%d threads, want %d", len(p.Threads), births+2)
	}
	var counts [10]uint64
	idle := 0
	for i := range births {
		x, n := p.Threads[1+i], uint64(0)
		for _, v := range x.Totals.N {
			n += v
		}
		if i < 10 {
			counts[i] = n
		}
		if n != counts[i%10] {
			t.Errorf("thread %d did %d, thread %d did %d", i+1, n, i%10+1, counts[i%10])
		}
		if x.BeginNS < p.Threads[i].BeginNS || x.EndNS < x.BeginNS || x.CPUNS < 0 || x.Start == 0 {
			t.Errorf("thread %d: from %d to %d ns, %d ns on a core, started at %#x; the one before began at %d", i+1, x.BeginNS, x.EndNS, x.CPUNS, x.Start, p.Threads[i].BeginNS)
		}
		if x.CPUNS == 0 {
			idle++
		}
	}
	if idle > births/50 { // a virtual machine takes off what its host took: of a short life that may be all
		t.Errorf("%d threads were never on a core", idle)
	}
	for i, x := range p.Threads {
		if creator := 2 * p.Threads[0].CPUNS; x.CreatedCPUNS > creator || x.JoinCPUNS > creator {
			t.Fatalf("who created thread %d and joined it was on a core for %d and %d ns by then, and %d in all", i, x.CreatedCPUNS, x.JoinCPUNS, creator/2)
		}
	}
}

// TestBirthsNarrow: where the address space is narrow the areas that are kept
// ready are none that threads lack.
func TestBirthsNarrow(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	prog := births(t)
	got, p, err := ran(t, profiler.Config{Path: bash, Args: []string{"-c", "ulimit -v 60000; exec " + prog + " nothing"}, FollowExec: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Run.ExitCode != 6 || len(p.Threads) != 402 {
		t.Errorf("exit code %d, %d threads; it wrote\n%s", p.Run.ExitCode, len(p.Threads), got)
	}
}
