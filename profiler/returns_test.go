package profiler_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// Whoever looks at return addresses finds those of the program.

// TestThrowThrough: an exception of a library passes through frames of a program
// that knows nothing of exceptions; the library walks its stack.
func TestThrowThrough(t *testing.T) {
	proctest.Need(t, "gcc", "g++")
	dir := t.TempDir()
	lib := filepath.Join(dir, "libwalks.so")
	build := exec.Command("g++", "-O1", "-shared", "-fPIC", "-o", lib, filepath.Join("testdata", "walks.cc"))
	if msg, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s", msg)
	}
	calls := filepath.Join("testdata", "walked.c")
	for name, args := range map[string][]string{
		"linked":         {"-O1", calls, lib, "-Wl,-rpath," + dir},
		"loaded later":   {"-O1", "-DLATER=\"" + lib + "\"", calls},
		"frame pointers": {"-O1", "-fno-omit-frame-pointer", calls, lib, "-Wl,-rpath," + dir},
	} {
		t.Run(name, func(t *testing.T) {
			watch(t)
			prog := proctest.Build(t, "gcc", append(args, "-g")...)
			p := same(t, prog)
			if len(p.Threads) != 1 {
				t.Errorf("%d threads", len(p.Threads))
			}
			p = runWith(t, profiler.Config{Path: prog, Libraries: []string{"none"}})
			if p.Run.ExitCode != 0 || p.Run.Signal != "" {
				t.Errorf("not counting the library, it ended with %d, signal %q", p.Run.ExitCode, p.Run.Signal)
			}
			compare(t, prog)
		})
	}
}

// TestPreloaded: a library that the program does not know samples its stack.
func TestPreloaded(t *testing.T) {
	watch(t)
	for _, how := range []string{"", "-DBY_HAND"} {
		args := strings.Fields("-O1 -fno-omit-frame-pointer -shared -fPIC " + how)
		lib := proctest.Build(t, "gcc", append(args, filepath.Join("testdata", "sampler.c"))...)
		prog := proctest.Build(t, "gcc", "-O1", "-fno-omit-frame-pointer", filepath.Join("testdata", "sampled.c"))
		p := runWith(t, profiler.Config{Path: prog, Env: append(os.Environ(), "LD_PRELOAD="+lib)})
		if p.Run.ExitCode != 0 || p.Run.Signal != "" {
			t.Errorf("%s: the sampler saw something else than the program's code: %d, signal %q", how, p.Run.ExitCode, p.Run.Signal)
		}
	}
}

// TestReadReturns: programs that look at return addresses by themselves.
func TestReadReturns(t *testing.T) {
	for _, c := range []string{"gcc -O0", "gcc -O1", "gcc -O2", "gcc -O2 -fno-omit-frame-pointer", "gcc -O2 -finstrument-functions", "clang -O1", "clang -O2", "clang -O2 -finstrument-functions"} {
		t.Run(strings.ReplaceAll(c, " ", "_"), func(t *testing.T) {
			watch(t)
			w := strings.Fields(c)
			same(t, proctest.Build(t, w[0], append(w[1:], "-g", filepath.Join("testdata", "caller.c"))...))
		})
	}
}

// TestForeignRuntime: a runtime finds its frames by tables of return addresses,
// as OCaml's does; its language has no registers that calls leave alone.
func TestForeignRuntime(t *testing.T) {
	watch(t)
	same(t, proctest.Build(t, "gcc", filepath.Join("testdata", "runtime.s")))
}

// TestSplitStack: functions that get a new piece of stack come back elsewhere.
func TestSplitStack(t *testing.T) {
	watch(t)
	proctest.Need(t, "ld.gold")
	src := proctest.Source(t, "split.c", `
#include <pthread.h>
#include <stdio.h>
__attribute__((noinline)) int deep(int n) { volatile char b[3000]; b[0] = n; return n ? deep(n - 1) + 1 : 0; }
static void *work(void *p) { return (void *)(long)deep(2000); }
int main(void)
{
	pthread_t t;
	pthread_attr_t a;
	void *r;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	pthread_create(&t, &a, work, 0);
	pthread_join(t, &r);
	printf("%ld %d\n", (long)r, deep(100));
	return 0;
}
`)
	same(t, proctest.Build(t, "gcc", "-O1", "-fsplit-stack", "-fuse-ld=gold", "-pthread", src))
}
