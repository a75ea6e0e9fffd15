package profiler_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// touching accesses memory in many ways: in rows and columns, at random, by pieces
// that cross lines, along lists, on the stack, by string instructions.
const touching = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; long value; char rest[24]; };
struct __attribute__((packed)) odd { char c; double d; short s; };
static double m[300][301];
static unsigned seed = 1;
static unsigned next(void) { return seed = seed * 1103515245 + 12345; }
static __attribute__((noinline)) long deep(int n, long *a) {
	long own[20];
	for (int i = 0; i < 20; i++) own[i] = a[i % 8] + n;
	return n ? deep(n - 1, own) + own[n % 20] : own[3];
}
int main(void) {
	double s = 0;
	for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) m[i][j] = i * j;
	for (int j = 0; j < 300; j++) for (int i = 0; i < 300; i++) s += m[i][j];
	for (int i = 1; i < 299; i++) for (int j = 1; j < 299; j++) m[i][j] = .25 * (m[i-1][j] + m[i+1][j] + m[i][j-1] + m[i][j+1]);
	int n = 100000;
	struct odd *o = malloc(n * sizeof *o);
	for (int i = 0; i < n; i++) o[i].d = i, o[i].s = i;
	for (int i = 0; i < 50000; i++) s += o[next() % n].d;
	struct node *all = malloc(20000 * sizeof *all), *head = 0;
	for (int i = 0; i < 20000; i++) { struct node *x = &all[(i * 7919) % 20000]; x->next = head; x->value = i; head = x; }
	for (int k = 0; k < 3; k++) for (struct node *x = head; x; x = x->next) s += x->value++;
	float *f = malloc(70000 * sizeof *f);
	for (int i = 0; i < 70000; i++) f[i] = i;
	for (int k = 1; k < 4; k++) for (int i = 0; i < 69000; i++) f[i] = f[i + k] * 2 + f[i + 2 * k];
	char *big = malloc(1 << 20), *copy = malloc(1 << 20);
	memset(big, 7, 1 << 20);
	memcpy(copy + 5, big + 3, (1 << 20) - 64);
	long a[8] = {1, 2, 3};
	for (int i = 0; i < 50; i++) s += deep(60, a);
	unsigned short *h = malloc(1 << 18);
	for (int i = 0; i < 1 << 17; i++) h[i] = i;
	for (int i = 0; i < 200000; i++) h[next() >> 15] += copy[i];
	{ char *d = copy; long c = 5000; __asm__ volatile("rep stosb" : "+D"(d), "+c"(c) : "a"(1) : "memory"); }
	printf("%f %d\n", s + f[5] + h[9], copy[77]);
	return 0;
}
`

// machine is a file that describes caches.
func machine(t *testing.T, text string) string {
	t.Helper()
	return proctest.Source(t, "machine.toml", text)
}

const smallCaches = "line = 64\n[l1]\nsize = \"8K\"\nways = 4\n[l3]\nsize = \"256K\"\nways = 8\n"

// misses adds up all that missed, and what went to memory.
func misses(p *profile.Profile) (first, last uint64) {
	for i := range p.Threads {
		c := p.Threads[i].Totals
		for k, e := range c.Event {
			if ev := &p.Events[e]; ev.Kind == profile.Hardware && ev.Reason != "" {
				first += c.N[k]
				if ev.Name == "l2-miss" { // of the shared one, the second level that there is
					last += c.N[k]
				}
			}
		}
	}
	return first, last
}

// TestCachesAgainstCallgrind: a single thread's misses are callgrind's.
func TestCachesAgainstCallgrind(t *testing.T) {
	src := proctest.Source(t, "touching.c", touching)
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O3", "-fno-plt"}, {"-Os", "-m64", "-fno-pie", "-no-pie"}} {
		prog := proctest.Build(t, "gcc", append(flags, "-g", src)...)
		wantFirst, wantLast, accesses := proctest.CacheMisses(t, "8192,4,64", "262144,8,64", prog)
		p := runWith(t, profiler.Config{Path: prog, Events: []string{"edges", "cache"}, Machine: machine(t, smallCaches), Libraries: []string{"none"}})
		first, last := misses(p)
		const repeated = 5000 // by a string instruction, which stand for themselves; -Os has more
		if n := accessesOf(p) + repeated; n > accesses || accesses-n > 64 && flags[0] != "-Os" {
			t.Errorf("%v: %d accesses and %d repeated, callgrind %d", flags, n-repeated, repeated, accesses)
		}
		for at, n := range missedMore(p) {
			t.Errorf("%v: what %#x accesses misses %d times more often than it does", flags, at, n)
		}
		t.Logf("%v: L1 %d, callgrind %d; last level %d, callgrind %d", flags, first, wantFirst, last, wantLast)
		if !near(first, wantFirst) || !near(last, wantLast) {
			t.Errorf("%v: L1 %d, callgrind %d; last level %d, callgrind %d", flags, first, wantFirst, last, wantLast)
		}
	}
}

// accessesOf are the executions of blocks times their accesses.
func accessesOf(p *profile.Profile) (n uint64) {
	c := p.Threads[0].Totals
	for k, e := range c.Event {
		if ev := &p.Events[e]; ev.Kind == profile.BlockEntered {
			n += c.N[k] * uint64(len(p.Graph.Blocks[ev.Block].Accesses))
		}
	}
	return n
}

// missedMore are instructions of which it is said how often they access, but which
// miss more often, and how much.
func missedMore(p *profile.Profile) map[profile.Addr]uint64 {
	left, missed, out := map[profile.Addr]uint64{}, map[profile.Addr]uint64{}, map[profile.Addr]uint64{}
	c := p.Threads[0].Totals
	for k, e := range c.Event {
		switch ev := &p.Events[e]; ev.Kind {
		case profile.BlockEntered:
			b := &p.Graph.Blocks[ev.Block]
			for _, off := range b.Accesses {
				left[b.Start+profile.Addr(off)] += c.N[k]
			}
		case profile.Hardware:
			if ev.Name != "upgrade" {
				missed[ev.Addr] += c.N[k]
			}
		}
	}
	for at, n := range missed {
		if all, is := left[at]; is && n > 2*all { // one access may be of two lines
			out[at] = n - all
		}
	}
	return out
}

// near: within 0.3 %, since the stack lies elsewhere in each run, and so in other
// sets, and what a program's start may differ by.
func near(got, want uint64) bool {
	return math.Abs(float64(got)-float64(want)) <= 0.003*float64(want)+64
}

// TestCachesKeepCounts: simulating changes no count of control flow.
func TestCachesKeepCounts(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", proctest.Source(t, "touching.c", touching))
	for _, libraries := range [][]string{{"none"}, nil} {
		c := profiler.Config{Path: prog, Libraries: libraries}
		want := runWith(t, c)
		c.Events = []string{"edges", "cache"}
		for _, sets := range []int{1, 16} {
			c.SampleSets = sets
			keepsCounts(t, want, runWith(t, c))
		}
	}
}

// keepsCounts: want is without caches.
func keepsCounts(t *testing.T, want, got *profile.Profile) {
	t.Helper()
	if got.Run.Machine == "" || want.Run.Machine != "" {
		t.Errorf("machines %q and %q", got.Run.Machine, want.Run.Machine)
	}
	flow := func(p *profile.Profile) map[profile.Addr]uint64 {
		n := map[profile.Addr]uint64{}
		c := p.Threads[0].Totals
		for k, e := range c.Event {
			if p.Events[e].Kind == profile.BlockEntered {
				n[p.Events[e].Addr] += c.N[k]
			}
		}
		return n
	}
	a, b := flow(want), flow(got)
	for at, n := range a {
		if b[at] != n {
			t.Errorf("%#x was executed %d times, %d where caches are simulated", uint64(at), n, b[at])
		}
	}
	if len(a) != len(b) || len(a) == 0 {
		t.Errorf("%d blocks, %d where caches are simulated", len(a), len(b))
	}
}

// TestSampledSets: some of the sets stand for all, within what is doubted of them.
func TestSampledSets(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", proctest.Source(t, "touching.c", touching))
	c := profiler.Config{Path: prog, Events: []string{"edges", "cache"}, Machine: "server64", Libraries: []string{"none"}}
	all, _ := misses(runWith(t, c))
	for _, n := range []int{4, 16} {
		c.SampleSets = n
		p := runWith(t, c)
		some, doubt := uint64(0), 0.0
		for k, e := range p.Threads[0].Totals.Event {
			ev, times := &p.Events[e], p.Threads[0].Totals.N[k]
			if ev.Kind != profile.Hardware || ev.Reason == "" {
				continue
			}
			if times%uint64(n) != 0 || ev.Doubt <= 0 {
				t.Errorf("1/%d: %v at %#x happened %d times, doubted by %v", n, ev.Name, uint64(ev.Addr), times, ev.Doubt)
			}
			some += times
			doubt += ev.Doubt * float64(times)
		}
		if d := math.Abs(float64(some) - float64(all)); d > doubt || d > 0.05*float64(all) {
			t.Errorf("1/%d: %d misses ± %.0f, %d in all sets", n, some, doubt, all)
		}
		if !slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "sampled-sets" }) {
			t.Errorf("1/%d: not said", n)
		}
	}
	c.Machine = machine(t, "[l1]\nsize = \"1K\"\nways = 8\n")
	if _, err := profiler.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "which are too few: simulate all") {
		t.Errorf("of two sets: %v", err)
	}
}

// TestReuse: a cache of one of the sizes misses what a machine misses that has it as its
// first level, whether all sets are looked at or some; and nothing else changes.
func TestReuse(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", proctest.Source(t, "touching.c", touching))
	c := profiler.Config{Path: prog, Libraries: []string{"none"}}
	plain := runWith(t, c)
	c.Events, c.Machine = []string{"edges", "cache"}, machine(t, "[l1]\nsize = \"32K\"\nways = 8\n")
	want, _ := misses(runWith(t, c))
	c.Machine, c.Reuse = "", true
	for sets, close := range map[int]float64{1: 0.003, 0: 0.03} { // the stack lies elsewhere in each run
		c.SampleSets = sets
		p := runWith(t, c)
		got := uint64(0)
		for k, e := range p.Threads[0].Totals.Event {
			ev := &p.Events[e]
			if all, is := ev.IsReuse(); !is || all {
				continue
			}
			if up, every := ev.MissesTo(); every || up >= 32<<10 {
				got += p.Threads[0].Totals.N[k]
			}
		}
		if math.Abs(float64(got)-float64(want)) > close*float64(want) {
			t.Errorf("sets %d: %d misses of 32K, a machine that has it %d", sets, got, want)
		}
		if len(p.ReuseSizes()) != 12 || p.Run.Machine != "" {
			t.Errorf("%d sizes, machine %q", len(p.ReuseSizes()), p.Run.Machine)
		}
		p.Run.Machine = "none" // which is what is asked for
		keepsCounts(t, plain, p)
	}
}

// TestMachines: what cannot be simulated is said before anything runs.
func TestMachines(t *testing.T) {
	for text, want := range map[string]string{
		"[l1]\nsize = \"48K\"\nways = 5\n":             "power of two",
		"line = 512\n[l1]\nsize = \"32K\"\nways = 8\n": "16 to 256",
	} {
		_, err := profiler.Run(t.Context(), profiler.Config{Path: "/bin/true", Events: []string{"edges", "cache"}, Machine: machine(t, text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := profiler.Run(t.Context(), profiler.Config{Path: "/bin/true", Events: []string{"edges", "cache"}, Machine: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a machine that is not there is no error")
	}
}

// TestCachesUnderTimers: a signal that comes while its thread simulates waits until
// it has, so handlers' accesses are simulated too, and no lock of the simulator stays
// with a thread that is stopped.
func TestCachesUnderTimers(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-pthread", proctest.Source(t, "timers.c", `
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static int table[1 << 18], shared[64];
static volatile sig_atomic_t ticks;
static void on(int s) { for (int i = 0; i < 50; i++) ticks += table[i * 1000] + 1; (void)s; }
static void *work(void *p) {
	unsigned x = (long)p;
	for (int i = 0; i < 300000; i++) { x = x * 1103515245 + 12345; table[x >> 14]++; __sync_fetch_and_add(&shared[x >> 26], 1); }
	return 0;
}
int main(void) {
	signal(SIGALRM, on);
	struct itimerval every = {{0, 2000}, {0, 2000}};
	setitimer(ITIMER_REAL, &every, 0);
	pthread_t t[8];
	for (long i = 0; i < 8; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
	struct itimerval off = {{0}};
	setitimer(ITIMER_REAL, &off, 0);
	int n = 0;
	for (int i = 0; i < 64; i++) n += shared[i];
	printf("%d\n", n);
	return 0;
}
`))
	p := runWith(t, profiler.Config{Path: prog, Events: []string{"edges", "cache"}, Machine: machine(t, smallCaches), Libraries: []string{"none"}})
	for _, w := range p.Warnings {
		if w.Code == "caches" {
			t.Error(w.Message)
		}
	}
}

// TestCachesOutliveTheFirst: threads may be created when the first one has ended.
func TestCachesOutliveTheFirst(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-pthread", proctest.Source(t, "outlive.c", `
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_t first;
static long table[1 << 12];
static void *work(void *p) { for (int i = 0; i < 1 << 12; i++) table[i]++; return p; }
static void *rest(void *p) {
	pthread_join(first, 0);
	static pthread_t t[300];
	for (int i = 0; i < 300; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 300; i++) pthread_join(t[i], 0);
	exit(7);
}
int main(void) {
	pthread_t t;
	first = pthread_self();
	pthread_create(&t, 0, rest, 0);
	pthread_exit(0);
}
`))
	p := runWith(t, profiler.Config{Path: prog, Events: []string{"edges", "cache"}, Machine: machine(t, smallCaches)})
	if p.Run.ExitCode != 7 || len(p.Threads) != 302 {
		t.Errorf("exit code %d, %d threads", p.Run.ExitCode, len(p.Threads))
	}
}
