package profiler_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestHandlers: what handlers of signals see and do is the same as without the
// profiler. Each prints how often it saw an address that is no code of its own.
func TestHandlers(t *testing.T) {
	builds := [][]string{{"-O2"}, {"-O0"}, {"-O2", "-fno-pie", "-no-pie"}, {"-O3", "-fomit-frame-pointer", "-fcf-protection"}}
	if os.Getenv("SKEWLENS_FULL") == "" {
		builds = builds[:2]
	}
	for _, build := range builds {
		prog := proctest.Build(t, "gcc", append(build, "-g", "-pthread", "-rdynamic", filepath.Join("testdata", "handlers.c"))...)
		for _, what := range []string{"look", "trace", "frames", "skip", "skip-timer", "fix", "first", "divide", "page", "leap", "leap-timer", "altstack",
			"breakpoint", "illegal", "nested", "threads", "stress", "stopped", "meet", "sleep", "exits", "die"} {
			t.Run(what+"/"+build[len(build)-1], func(t *testing.T) { same(t, prog, what) })
		}
	}
}

// TestHandlersStress repeats what depends on when signals arrive.
func TestHandlersStress(t *testing.T) {
	n := 2
	if os.Getenv("SKEWLENS_FULL") != "" {
		n = 30
	}
	for _, build := range []string{"-O2", "-O0"} {
		prog := proctest.Build(t, "gcc", build, "-g", "-pthread", "-rdynamic", filepath.Join("testdata", "handlers.c"))
		for range n {
			same(t, prog, "stress")
			same(t, prog, "meet")
			same(t, prog, "nested")
			same(t, prog, "threads")
		}
	}
}

// TestFaultsCountOnce: an instruction that faults and is fixed or skipped, and
// those around it, count as if it had not faulted.
func TestFaultsCountOnce(t *testing.T) {
	for _, c := range []string{"gcc -O0", "gcc -O2", "clang -O2", "gcc -O2 -static"} {
		t.Run(c, func(t *testing.T) {
			words := strings.Fields(c)
			prog := proctest.Build(t, words[0], append(words[1:], "-g", filepath.Join("testdata", "faults.c"))...)
			with, without := run(t, prog), run(t, prog, "clean")
			if with.Run.ExitCode != 2 || without.Run.ExitCode != 0 {
				t.Fatalf("exit status %d and %d: did it fault as it should?", with.Run.ExitCode, without.Run.ExitCode)
			}
			clean := map[profile.Addr]uint64{} // block → executions
			for _, b := range without.Graph.Blocks {
				if b.Count != profile.NoEvent {
					clean[b.Start] = without.Threads[0].Totals.Of(b.Count)
				}
			}
			faulty, seen := map[string]bool{"peek": true, "sum": true, "first": true, "behind": true, "nothing": true}, map[string]bool{}
			for _, b := range with.Graph.Blocks {
				f := with.Graph.Functions[b.Function].Name
				if !faulty[f] || b.Count == profile.NoEvent {
					continue
				}
				seen[f] = true
				if x, y := with.Threads[0].Totals.Of(b.Count), clean[b.Start]; x != y {
					t.Errorf("%s: block %#x was executed %d times with faults, %d without", f, b.Start, x, y)
				}
			}
			if !maps.Equal(seen, faulty) {
				t.Errorf("compared only %v", seen)
			}
		})
	}
}

// TestExitInHandler: the frames under a handler that ends the program are
// known. (main stands at the end of a block, of which no rest is left.)
func TestExitInHandler(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", "-rdynamic", filepath.Join("testdata", "handlers.c"))
	p := run(t, prog, "exits")
	var in []string
	for _, a := range p.Threads[0].Active {
		for _, b := range p.Graph.Blocks {
			if a >= b.Start && a < b.End {
				in = append(in, p.Graph.Functions[b.Function].Name)
			}
		}
	}
	if got := strings.Join(in, " "); got != "faulty run" {
		t.Errorf("the thread ended in %q", got)
	}
}

// TestLoopUnderHandler: how often a loop went round is known that a signal came to whose
// handler ends the program, or has not come back when another thread does.
func TestLoopUnderHandler(t *testing.T) {
	for _, c := range []string{"gcc -O0", "gcc -O1", "gcc -O2", "gcc -O3 -static", "gcc -O1 -fno-asynchronous-unwind-tables", "clang -O1", "clang -O2"} {
		words := strings.Fields(c)
		prog := proctest.Build(t, words[0], append(words[1:], "-g", "-pthread", filepath.Join("testdata", "endless.c"))...)
		for _, how := range []string{"ends", "stays"} {
			out, _, p := profiled(t, prog, how)
			var at, most int
			fmt.Sscan(out, &at)
			var all profile.Counts
			for i := range p.Threads {
				all = all.Plus(p.Threads[i].Totals)
			}
			for _, b := range p.Graph.Blocks {
				if strings.HasPrefix(p.Graph.Functions[b.Function].Name, "loop") && b.Count != profile.NoEvent {
					most = max(most, int(all.Of(b.Count)))
				}
			}
			each := (at + most/2) / max(most, 1) // stores in a round, of which an unrolled one has several
			if each < 1 || each > 8 || max(at-each*most, each*most-at) > 2*each {
				t.Errorf("%s, %s: it went round %d times, and stored %d: %v", c, how, most, at, p.Warnings)
			}
		}
	}
}
