package profiler_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// sharing has threads that write, each a part of an array, count in words that lie side by
// side, take turns by a lock, and meet at a barrier.
const sharing = `
#include <pthread.h>
#include <stdio.h>
enum { P = 4, N = 20000 };
static pthread_barrier_t all;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static long beside[P], sum, a[P * N];
static void *work(void *p) {
	long id = (long)p;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N * (id + 1) / P; i++) { a[id * N + i] += i; beside[id]++; }
		pthread_mutex_lock(&one);
		for (int i = 0; i < 100; i++) sum += a[(id * N + i * 97) % (P * N)];
		pthread_mutex_unlock(&one);
		pthread_barrier_wait(&all);
	}
	return 0;
}
int main(void) {
	pthread_t t[P];
	pthread_barrier_init(&all, 0, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], 0);
	printf("%ld\n", sum + beside[1]);
	return 0;
}
`

// byEvent are the misses of all threads, by the instruction, level and reason.
func byEvent(p *profile.Profile) map[profile.Event]uint64 {
	n := map[profile.Event]uint64{}
	for i := range p.Threads {
		c := p.Threads[i].Totals
		for k, e := range c.Event {
			if ev := p.Events[e]; ev.Kind == profile.Hardware && ev.Name != "page-fault" {
				n[profile.Event{Addr: ev.Addr, Name: ev.Name, Reason: ev.Reason, Writes: ev.Writes, Called: ev.Called}] += c.N[k]
			}
		}
	}
	return n
}

// sameAddresses has a program lie the same way in each run.
func sameAddresses(t *testing.T, prog string) profiler.Config {
	t.Helper()
	proctest.Need(t, "setarch")
	setarch, err := exec.LookPath("setarch")
	if err != nil {
		t.Fatal(err)
	}
	return profiler.Config{Path: setarch, Args: []string{"-R", prog}, FollowExec: true, Events: []string{"edges", "cache"},
		Env: append(os.Environ(), "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=0x10000000")}
}

// TestToldIsSimulated: what the simulator in the program counts of a real program is what
// the oracle makes of all that the program tells: each instruction's misses, in each level,
// for each reason, with what it calls in libraries.
func TestToldIsSimulated(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", proctest.Source(t, "touching.c", touching))
	for _, m := range []string{smallCaches, "line = 32\n[l1]\nsize = \"4K\"\nways = 8\n[l2]\nsize = \"32K\"\nways = 4\n[l3]\nsize = \"640K\"\nways = 20\n"} {
		for _, libraries := range [][]string{{"none"}, nil} {
			c := sameAddresses(t, prog)
			c.Machine, c.Libraries = machine(t, m), libraries
			got := byEvent(runWith(t, c))
			p := runWith(t, profiler.Told(c, nil))
			want, sum, apart := byEvent(p), uint64(0), uint64(0)
			for e, n := range want {
				sum, apart = sum+n, apart+max(n, got[e])-min(n, got[e])
			}
			for e, n := range got {
				if want[e] == 0 {
					apart += n
				}
			}
			t.Logf("libraries %v: %d misses at %d events, %d of them elsewhere", libraries, sum, len(want), apart)
			if sum < 10000 || apart > 0 {
				t.Errorf("libraries %v, %s: %d of %d misses are not the oracle's", libraries, m, apart, sum)
			}
		}
	}
}

// TestAccessesAreCounted: each instruction accesses as often as its block is entered, of
// one thread and of several, whatever they are told of: counts of control flow times the
// block's accesses.
func TestAccessesAreCounted(t *testing.T) {
	for name, src := range map[string]string{"touching.c": touching, "sharing.c": sharing} {
		for _, flags := range []string{"-O0", "-O2", "-O3"} {
			prog := proctest.Build(t, "gcc", flags, "-pthread", proctest.Source(t, name, src))
			told := map[profile.Addr]uint64{}
			p := runWith(t, profiler.Told(profiler.Config{Path: prog, Events: []string{"edges", "cache"}, Machine: machine(t, smallCaches), Libraries: []string{"none"}}, told))
			want := map[profile.Addr]uint64{}
			sum := uint64(0)
			for i := range p.Threads {
				c := p.Threads[i].Totals
				for k, e := range c.Event {
					if ev := &p.Events[e]; ev.Kind == profile.BlockEntered {
						b := &p.Graph.Blocks[ev.Block]
						for _, off := range b.Accesses {
							want[b.Start+profile.Addr(off)] += c.N[k]
							sum += c.N[k]
						}
					}
				}
			}
			for at, n := range want {
				if told[at] != n {
					t.Errorf("%s %s: %#x accesses %d times, told %d", name, flags, uint64(at), n, told[at])
				}
			}
			t.Logf("%s %s: %d accesses of %d instructions, %d threads", name, flags, sum, len(want), len(p.Threads))
			if sum < 100000 {
				t.Errorf("%s %s: %d accesses", name, flags, sum)
			}
		}
	}
}

// TestLongLines: machines with lines beyond 64 bytes are simulated beside the program: a
// single thread's misses are callgrind's, and it is said.
func TestLongLines(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", proctest.Source(t, "touching.c", touching))
	m := machine(t, "line = 128\n[l1]\nsize = \"8K\"\nways = 4\n[l3]\nsize = \"256K\"\nways = 8\n")
	wantFirst, wantLast, _ := proctest.CacheMisses(t, "8192,4,128", "262144,8,128", prog)
	c := profiler.Config{Path: prog, Events: []string{"edges", "cache"}, Machine: m, Libraries: []string{"none"}}
	p := runWith(t, c)
	first, last := misses(p)
	t.Logf("L1 %d, callgrind %d; last level %d, callgrind %d", first, wantFirst, last, wantLast)
	if !near(first, wantFirst) || !near(last, wantLast) {
		t.Errorf("L1 %d, callgrind %d; last level %d, callgrind %d", first, wantFirst, last, wantLast)
	}
	if !said(p, "told") {
		t.Errorf("not said: %v", p.Warnings)
	}
	c.SampleSets = 4
	if _, err := profiler.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "leave out --sample-sets") {
		t.Errorf("sampled: %v", err)
	}
}

func said(p *profile.Profile, code string) bool {
	for _, w := range p.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// TestManyCores: more than 64 threads have caches where more cores are asked for.
func TestManyCores(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-pthread", proctest.Source(t, "many.c", `
#include <pthread.h>
enum { P = 100, N = 2000 };
static pthread_barrier_t all;
static long a[P][N];
static void *work(void *p) {
	long *mine = a[(long)p];
	pthread_barrier_wait(&all);
	for (int i = 0; i < N; i++) mine[i] = i;
	pthread_barrier_wait(&all);
	return 0;
}
int main(void) {
	pthread_t t[P];
	pthread_barrier_init(&all, 0, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], 0);
	return 0;
}
`))
	c := profiler.Config{Path: prog, Events: []string{"edges", "cache"}, Machine: machine(t, smallCaches), Libraries: []string{"none"}}
	for _, cores := range []int{0, 100} {
		c.Cores = cores
		p := runWith(t, c)
		none := 0
		for i := range p.Threads[1:] {
			if first, _ := missesOfThread(p, i+1); first < 2000*8/64 {
				none++
			}
		}
		if (none > 0) != (cores == 0) || said(p, "caches") != (cores == 0) || said(p, "told") == (cores == 0) {
			t.Errorf("%d cores: %d threads have no misses; %v", cores, none, p.Warnings)
		}
	}
}

// missesOfThread is misses, of one.
func missesOfThread(p *profile.Profile, i int) (first, last uint64) {
	one := *p
	one.Threads = p.Threads[i : i+1]
	return misses(&one)
}
