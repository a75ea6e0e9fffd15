package profiler_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestChangesItself: what a program writes over its own code is what runs, and
// code elsewhere is still counted.
func TestChangesItself(t *testing.T) {
	for _, c := range []string{"gcc -O0", "gcc -O2", "clang -O2", "gcc -O2 -no-pie -fno-pie", "gcc -O2 -fcf-protection",
		"gcc -O2 -falign-functions=4096", "clang -O2 -falign-functions=4096"} {
		w := strings.Fields(c)
		prog := proctest.Build(t, w[0], append(w[1:], "-g", "-pthread", filepath.Join("testdata", "patch.c"))...)
		for _, args := range []string{"0", "1", "5", "3 2", "3 0 fork", "3 3 fork"} {
			t.Run(strings.ReplaceAll(c+"/"+args, " ", "_"), func(t *testing.T) {
				watch(t)
				p := same(t, prog, strings.Fields(args)...)
				warned := warns(p, "changed-code")
				if warned != (args != "0") {
					t.Errorf("warned: %v, %v", warned, p.Warnings)
				}
				if all := p.Coverage.Functions == p.Coverage.FunctionsTotal; all == warned {
					t.Errorf("counted are %d of %d functions", p.Coverage.Functions, p.Coverage.FunctionsTotal)
				}
				answer, other := executions(p, "answer"), executions(p, "other")
				if warned && answer >= 0 {
					t.Errorf("answer ran %d times, which cannot be known", answer)
				}
				if want := int64(6000); args == "5" && strings.Contains(c, "4096") && other != want {
					t.Errorf("other ran %d times, want %d", other, want)
				}
			})
		}
	}
}
