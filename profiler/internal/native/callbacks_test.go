package native

import (
	"testing"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// TestMayCall: by their bytes, functions are known that call what calls back, by a stub or
// through a slot, as they are when they are decoded; and not many others.
func TestMayCall(t *testing.T) {
	proctest.Need(t, "gcc")
	source := proctest.Source(t, "sorts.c", `
#include <search.h>
#include <stdlib.h>
static int compares(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) void sorts(int *a, int n) { qsort(a, n, sizeof *a, compares); }
__attribute__((noinline)) int finds(int *a, int n, int x) { size_t k = n; return lfind(&x, a, &k, sizeof *a, compares) != 0; }
__attribute__((noinline)) int adds(int *a, int n) { int s = 0; while (n) s += a[--n]; return s; }
int main(int argc, char **argv) { int a[] = {3, 1, argc}; sorts(a, 3); return finds(a, 3, 1) + adds(a, 3); }`)
	for _, how := range []string{"-fplt", "-fno-plt"} {
		im, err := image.Open(proctest.Build(t, "gcc", "-O1", "-g", how, source))
		if err != nil {
			t.Fatal(err)
		}
		p := cfg.Build(im, func(string) bool { return false })
		m := &module{analysis: &analysis{im: im, spec: &relocate.Spec{Program: p}}}
		to, found := m.givenTo(), 0
		for _, f := range p.Funcs {
			if f.Skip != "" {
				continue
			}
			calls := false
			var space cfg.Space
			for _, b := range p.Blocks(f, &space).Blocks {
				for i := range b.Calls {
					calls = calls || callsBack[b.Calls[i].Import]
				}
			}
			if got := m.mayCall(f, to); got != calls {
				t.Errorf("%s: %s may call what calls back: %v", how, f.Name, got)
			}
			if calls {
				found++
			}
		}
		if found != 2 {
			t.Errorf("%s: %d functions call what calls back, not 2", how, found)
		}
	}
}
