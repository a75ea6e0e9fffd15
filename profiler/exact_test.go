package profiler_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// run profiles a program with its output thrown away.
func run(t testing.TB, prog string, args ...string) *profile.Profile {
	t.Helper()
	return runWith(t, profiler.Config{Path: prog, Args: args})
}

func runWith(t testing.TB, c profiler.Config) *profile.Profile {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	c.Stdin, c.Stdout, c.Stderr = null, null, null
	ctx, off := watchdog(t)
	defer off()
	p, err := profiler.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Warnings {
		if w.Code == "inconsistent-counts" {
			t.Errorf("%s: %s", filepath.Base(c.Path), w.Message)
		}
	}
	return p
}

// compare checks a program's counts, thread by thread and instruction by
// instruction, against callgrind's. Left out are string instructions with a
// rep prefix, of which callgrind counts the iterations.
func compare(t *testing.T, prog string, args ...string) {
	t.Helper()
	im, err := image.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	want := proctest.Callgrind(t, im.Entry, prog, args...)
	c := profiler.Config{Path: prog, Args: args, Libraries: []string{"none"}}
	compareTo(t, im, runWith(t, c), want)
	compareTo(t, im, runWith(t, profiler.Crowded(c)), want)
}

func compareTo(t *testing.T, im *image.Image, p *profile.Profile, want []map[uint64]uint64) {
	t.Helper()
	var got []profile.Counts
	for i := range p.Threads {
		got = append(got, p.Threads[i].Totals)
	}
	if len(got) > len(want) { // callgrind gives a dead thread's number to a new one
		sum := map[uint64]uint64{}
		for _, m := range want {
			for a, n := range m {
				sum[a] += n
			}
		}
		want = []map[uint64]uint64{sum}
		for _, c := range got[1:] {
			got[0] = got[0].Plus(c)
		}
		got = got[:1]
	}
	// In a static program the C library chooses other functions under valgrind:
	// compare what has debug information, which is the program's own.
	known := map[profile.FunctionID]bool{}
	for _, b := range p.Graph.Blocks {
		if l, ok := p.Location(b.Start); ok && l.Known() {
			known[b.Function] = true
		}
	}
	compared := 0
	for i, totals := range got {
		diff := map[uint64][2]uint64{}
		unexecuted := map[uint64]uint64{} // the rest of blocks in which frames ended
		if len(got) == len(p.Threads) {
			for _, a := range p.Threads[i].Active {
				for _, b := range p.Graph.Blocks {
					if uint64(a) >= uint64(b.Start) && a < b.End {
						for x := uint64(a); x < uint64(b.End); {
							in, err := x86.Decode(im.Bytes(x), x)
							if err != nil {
								t.Fatal(err)
							}
							unexecuted[x]++
							x = in.End()
						}
					}
				}
			}
		}
		for _, f := range p.Graph.Functions {
			if f.N > 0 || f.Opaque || im.Static {
				continue
			}
			for a := uint64(f.Entry); a < uint64(f.End); a++ {
				if want[i][a] != 0 {
					t.Errorf("thread %d: %s did not run; callgrind: %d at %#x", i, f.Name, want[i][a], a)
					break
				}
			}
		}
		for _, b := range p.Graph.Blocks {
			if b.Virtual || im.Static && !known[b.Function] {
				continue
			}
			if b.Count == profile.NoEvent {
				if want[i][uint64(b.Start)] != 0 {
					t.Logf("thread %d: block %#x of %s is unknown; callgrind: %d", i, b.Start, p.Graph.Functions[b.Function].Name, want[i][uint64(b.Start)])
				}
				continue
			}
			n := totals.Of(b.Count)
			for a := uint64(b.Start); a < uint64(b.End); {
				in, err := x86.Decode(im.Bytes(a), a)
				if err != nil {
					t.Fatal(err)
				}
				n := n - unexecuted[a]
				if w := want[i][a]; w != n && !(in.Rep != 0 && in.IsString()) {
					diff[a] = [2]uint64{n, w}
				}
				compared++
				a = in.End()
			}
		}
		if len(diff) > 0 {
			t.Errorf("thread %d: %d instructions differ:%s", i, len(diff), proctest.Describe(diff))
		}
	}
	t.Logf("%d threads × instructions equal: %d", len(p.Threads), compared)
}

// example returns the path of an example's source.
func example(name string) string { return filepath.Join("..", "examples", name+".c") }

// corpus returns a program of testdata/corpus and what compiles it.
func corpus(name string) (path, compiler string) {
	path = filepath.Join("testdata", "corpus", name)
	if filepath.Ext(name) == ".cc" {
		return path, "++"
	}
	return path, ""
}

// TestCountsEqualCallgrind builds programs in many ways and compares every
// count. In CI each program is built in a few of them, by turns; with
// SKEWLENS_FULL set, in all.
func TestCountsEqualCallgrind(t *testing.T) {
	builds := []struct{ compiler, flags string }{
		{"gcc", "-O2"}, {"gcc", "-O0"}, {"clang", "-O2"}, {"gcc", "-O3 -march=native -mno-avx512f"}, {"gcc", "-O1 -no-pie"}, {"clang", "-O0"},
		{"gcc", "-O2 -fcf-protection -fno-plt"}, {"gcc", "-Os -static"}, {"clang", "-O3 -no-pie"}, {"gcc", "-O2 -flto -fno-omit-frame-pointer"},
		{"gcc", "-O2 -Wl,-s"}, // its cold parts have no names
		{"gcc", "-O2 -mcmodel=large -fno-pie -no-pie"}, {"gcc", "-O3 -mcmodel=large -fPIC"},
	}
	programs := []struct {
		path string
		cc   string // "++" for C++
		args []string
	}{}
	for _, n := range []string{"switches.c", "gotos.c", "tails.c", "jumps.c", "throws.cc", "stacks.c", "deepexit.c", "deepend.c", "meets.c", "signals.c", "strings.c", "floats.c",
		"sorts.c", "pointers.c", "loops.c", "lists.c", "words.c", "bits.c", "virtuals.cc", "locks.c", "matrix.c", "deeper.c", "tables.c", "labels.c", "threaded.c"} {
		path, cc := corpus(n)
		programs = append(programs, struct {
			path string
			cc   string
			args []string
		}{path, cc, nil})
	}
	for _, n := range []string{"owner", "root", "tree", "radix", "queue", "guard", "kinds", "balanced", "join"} {
		programs = append(programs, struct {
			path string
			cc   string
			args []string
		}{example(n), "", []string{"4", "1"}})
	}
	full := os.Getenv("SKEWLENS_FULL") != ""
	for i, c := range programs {
		for j, b := range builds {
			if !full && j != i%len(builds) && j != (i+3)%len(builds) {
				continue
			}
			t.Run(filepath.Base(c.path)+"/"+b.compiler+" "+b.flags, func(t *testing.T) {
				compiler := b.compiler
				if c.cc != "" {
					compiler = map[string]string{"gcc": "g++", "clang": "clang++"}[compiler]
				}
				prog := proctest.Build(t, compiler, append(strings.Fields(b.flags), "-g", "-pthread", c.path, "-lm")...)
				compare(t, prog, c.args...)
			})
		}
	}
}

// TestComputedGotos: interpreters are counted, not only left in peace, and exactly.
func TestComputedGotos(t *testing.T) {
	for _, c := range []struct{ program, builds string }{
		{"labels.c", "gcc -O2;gcc -O3;gcc -O2 -no-pie -fno-pie;gcc -O2 -mcmodel=large -no-pie -fno-pie;clang -O2;clang -O3;clang -O3 -no-pie -fno-pie;" +
			"clang -O2 -mcmodel=large -no-pie -fno-pie;gcc -O0;clang -O0;gcc -O2 -mcmodel=large -fPIC -pie;clang -O2 -mcmodel=large -fPIC -pie;gcc -Os;gcc -O0 -no-pie -fno-pie"},
		{"threaded.c", "gcc -O0;gcc -O1;gcc -O2;gcc -O3;gcc -Os;clang -O0;clang -O1;clang -O2;clang -O3"},
		{"gotos.c", "gcc -O0;clang -O0;gcc -O2;clang -O2;gcc -O0 -mcmodel=large -fPIC -pie"},
	} {
		path, _ := corpus(c.program)
		for build := range strings.SplitSeq(c.builds, ";") {
			t.Run(c.program+"/"+build, func(t *testing.T) {
				w := strings.Fields(build)
				prog := proctest.Build(t, w[0], append(w[1:], "-g", path)...)
				p := run(t, prog)
				for _, f := range p.Graph.Functions {
					if f.Opaque && f.Name != "_start" && f.Name != "mixed" { // whose last jump may be a call
						t.Errorf("%s is not counted", f.Name)
					}
				}
				compare(t, prog)
			})
		}
	}
}

// TestNamelessParts: in a stripped program everything is found that makes a
// function: its cold parts, the tables of its switches.
func TestNamelessParts(t *testing.T) {
	for _, build := range []string{"gcc -O2", "gcc -O3 -no-pie", "gcc -Os", "clang -O2"} {
		words := strings.Fields(build)
		path, _ := corpus("tables.c")
		p := run(t, proctest.Build(t, words[0], append(words[1:], "-Wl,-s", path)...))
		if c := p.Coverage; c.Functions != c.FunctionsTotal {
			t.Errorf("%s: %d of %d functions, not %+v", build, c.Functions, c.FunctionsTotal, c.Skipped)
		}
	}
}

// TestStrangersCounts compares the counts of programs that nobody built for
// this, stripped and optimised, each at work that does not depend on the
// environment, which valgrind adds to, nor on what else the machine does: sort
// is told how much memory to take, or it asks how much is free, and whether that
// is over three quarters changes between two runs.
func TestStrangersCounts(t *testing.T) {
	words := [][]string{{"readelf", "-aW", "/bin/true"}, {"objdump", "-dx", "/bin/true"}, {"gzip", "-c", "/bin/true"}, {"sort", "-S", "1M", "/etc/passwd"}}
	if os.Getenv("SKEWLENS_FULL") != "" {
		words = append(words, []string{"objdump", "-W", "/bin/true"}, []string{"as", "-al", "/dev/null", "-o", "/dev/null"}, []string{"ld", "--verbose"},
			[]string{"xz", "-kc", "/bin/true"}, []string{"nm", "-CD", "/bin/bash"}, []string{"strip", "-o", "/dev/null", "/bin/true"}, []string{"file", "/bin/true"})
	}
	for _, w := range words {
		t.Run(w[0], func(t *testing.T) {
			path, err := exec.LookPath(w[0])
			if err == nil {
				path, err = filepath.EvalSymlinks(path)
			}
			if err != nil {
				t.Skipf("%s is not installed", w[0])
			}
			compare(t, path, w[1:]...)
		})
	}
}

// TestLargeModel: calls of what the compiler knows are made through registers, over which
// it keeps values in any that the callee leaves alone.
func TestLargeModel(t *testing.T) {
	src := proctest.Source(t, "large.c", `
		#include <stdio.h>
		static long each = 100, threads = 6;
		__attribute__((noinline)) static unsigned long work(unsigned long x, unsigned long n) {
			for (x |= 1; n > 0; n--) { x ^= x >> 29; x *= 0x9e3779b97f4a7c15u; }
			return x;
		}
		__attribute__((noinline)) static unsigned long share(long id) {
			unsigned long s = 0, n = each, p = threads;
			for (int k = 0; k < 8; k++) {
				unsigned long i = k * p + id, x = work(i, n);
				if (i >= p * 6) x = work(x, 8 * n);
				s += x;
			}
			return s;
		}
		int main(void) {
			unsigned long s = 0;
			for (int r = 0; r < 3; r++) s += share(r);
			printf("%lx\n", s);
		}`)
	for _, flags := range []string{"-mcmodel=large -fno-pie -no-pie", "-mcmodel=large -fPIC", "-mforce-indirect-call"} {
		t.Run(flags, func(t *testing.T) {
			watch(t)
			prog := proctest.Build(t, "gcc", append(strings.Fields("-O2 -g "+flags), src)...)
			same(t, prog)
			compare(t, prog)
		})
	}
}
