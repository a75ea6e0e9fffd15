package profiler_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

var leftBuilds = []string{"gcc -O0", "gcc -O2", "clang -O1", "gcc -O2 -fno-pie -no-pie"}

// TestContexts: a call that goes to another stack, by the C library or by code
// of the program's own, may never come back.
func TestContexts(t *testing.T) {
	for _, c := range leftBuilds {
		for _, how := range []string{"", "-DOWN"} {
			t.Run(strings.ReplaceAll(c+how, " ", "_"), func(t *testing.T) {
				watch(t)
				w := append(strings.Fields(c), "-g", filepath.Join("testdata", "contexts.c"))
				if how != "" {
					w = append(w, how)
				}
				prog := proctest.Build(t, w[0], w[1:]...)
				same(t, prog)
				compare(t, prog)
			})
		}
	}
}

// TestTraps: what is behind a trap that a handler skips counts as any code does.
func TestTraps(t *testing.T) {
	for _, c := range leftBuilds {
		t.Run(strings.ReplaceAll(c, " ", "_"), func(t *testing.T) {
			watch(t)
			w := strings.Fields(c)
			prog := proctest.Build(t, w[0], append(w[1:], "-g", filepath.Join("testdata", "traps.c"))...)
			p := same(t, prog)
			if n := executions(p, "skips"); n != 20 {
				t.Errorf("skips was called %d times, want 20", n)
			}
			compare(t, prog)
		})
	}
}

// executions is how often a function was entered; −1: not known.
func executions(p *profile.Profile, name string) int64 {
	for _, f := range p.Graph.Functions {
		if f.Name != name {
			continue
		}
		for _, b := range p.Graph.Blocks {
			if b.Start == f.Entry {
				if b.Count == profile.NoEvent {
					return -1
				}
				n := uint64(0)
				for i := range p.Threads {
					n += p.Threads[i].Totals.Of(b.Count)
				}
				return int64(n)
			}
		}
	}
	return -1
}

// TestLeaps: where a handler of a fault goes elsewhere, counts of what it has
// left are not known; all others are, and those of faults that were mended.
func TestLeaps(t *testing.T) {
	for _, c := range leftBuilds {
		w := strings.Fields(c)
		prog := proctest.Build(t, w[0], append(w[1:], "-g", filepath.Join("testdata", "leaps.c"))...)
		for _, x := range []struct {
			args        string
			left        bool
			load, other int64
		}{
			{"1", true, -1, 75},
			{"1 alt", true, -1, 75},
			{"2", true, -1, 75},
			{"2 alt", true, -1, 75},
			{"3", false, 100, 100},
			{"3 alt", false, 100, 100},
			{"4", false, 3, 2},
			{"4 alt", false, 3, 2},
			{"5", true, 100, 75},
			{"5 alt", true, 100, 75},
		} {
			t.Run(strings.ReplaceAll(c+x.args, " ", "_"), func(t *testing.T) {
				watch(t)
				p := same(t, prog, strings.Fields(x.args)...)
				warned := warns(p, "abandoned")
				if load, other := executions(p, "load"), executions(p, "other"); warned != x.left || load != x.load || other != x.other {
					t.Errorf("load %d, other %d, warned %v; want %d, %d, %v", load, other, warned, x.load, x.other, x.left)
				}
				for _, w := range p.Warnings {
					if w.Code == "inconsistent-counts" {
						t.Error(w.Message)
					}
				}
			})
		}
	}
}

func warns(p *profile.Profile, code string) bool {
	return slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == code })
}

// TestTimeouts: the same of handlers of signals from outside.
func TestTimeouts(t *testing.T) {
	for _, c := range leftBuilds {
		w := strings.Fields(c)
		prog := proctest.Build(t, w[0], append(w[1:], "-g", filepath.Join("testdata", "timeouts.c"))...)
		for _, args := range [][]string{nil, {"itself"}} {
			t.Run(strings.ReplaceAll(c, " ", "_")+strings.Join(args, ""), func(t *testing.T) {
				watch(t)
				p := same(t, prog, args...)
				warned := warns(p, "abandoned")
				if work, other := executions(p, "work"), executions(p, "other"); work != -1 || other != 20 || !warned {
					t.Errorf("work %d, other %d, warned %v; want -1, 20, true", work, other, warned)
				}
			})
		}
	}
}

// TestSetsGS: a program that lets GS lead into its own memory is refused before
// counters would be written there.
func TestSetsGS(t *testing.T) {
	for name, set := range map[string]string{
		"arch_prctl": "int arch_prctl(int, unsigned long);\n#define SET(p) arch_prctl(0x1001, (unsigned long)p)",
		"wrgsbase":   "#define SET(p) if (argc > 7) __builtin_ia32_wrgsbase64((unsigned long)p)",
	} {
		src := proctest.Source(t, "gs.c", set+"\nstatic long mem[512];\nint main(int argc, char **argv) { SET(mem); return mem[1]; }\n")
		prog := proctest.Build(t, "gcc", "-O1", "-mfsgsbase", src)
		_, _, err := ran(t, profiler.Config{Path: prog})
		if err == nil || !strings.Contains(err.Error(), "uses the GS register") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
