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

// protectsElsewhere makes memory writable that holds no code, a thousand times, as collectors of
// garbage do, and says whether it was stopped each time: whoever is stops voluntarily.
const protectsElsewhere = `
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
static volatile char *page;
__attribute__((noinline)) static void round_(int i) {
	mprotect((void *)page, 4096, PROT_READ);
	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
	page[i % 4096]++;
}
int main(void) {
	struct rusage before, after;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < 1000; i++) round_(i);
	getrusage(RUSAGE_SELF, &after);
	puts(after.ru_nvcsw - before.ru_nvcsw > 500 ? "stopped" : "free");
	return 0;
}`

// TestProtectsElsewhere: only who makes code writable is stopped.
func TestProtectsElsewhere(t *testing.T) {
	watch(t)
	p := same(t, proctest.Build(t, "gcc", "-O2", "-g", proctest.Source(t, "protects.c", protectsElsewhere)))
	if warns(p, "changed-code") || executions(p, "round_") != 1000 {
		t.Errorf("%d rounds, %v", executions(p, "round_"), p.Warnings)
	}
}
