package profiler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// faulting has threads of which the k-th touches 100·k new pages in each round and works as
// much longer; the second one sleeps twenty times.
const faulting = `
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
enum { P = 4, ROUNDS = 3 };
static pthread_barrier_t all;
static void *work(void *p) {
	long id = (long)p;
	for (int round = 0; round < ROUNDS; round++) {
		char *m = mmap(0, 4096 * 1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(m, 4096 * 1000, MADV_NOHUGEPAGE);
		for (int i = 0; i < 100 * id; i++) m[4096 * i] = 1;
		for (volatile long i = 0; i < 3000000 * (id + 1); i++) ;
		if (id == 1) for (int i = 0; i < 20; i++) usleep(100);
		pthread_barrier_wait(&all);
	}
	return 0;
}
int main(void) {
	pthread_t t[P];
	pthread_barrier_init(&all, 0, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], 0);
	return 0;
}
`

// counted runs a program by counters, or skips the test where there are none.
func counted(t *testing.T, c profiler.Config) *profile.Profile {
	t.Helper()
	if _, _, _, err := profiler.Counters(); err != nil {
		t.Skip(err)
	}
	p := runWith(t, c)
	if said(p, "hardware") {
		t.Fatalf("%+v", p.Warnings)
	}
	return p
}

// barrier is the section of that kind.
func barrier(t *testing.T, p *profile.Profile) *profile.Section {
	t.Helper()
	for i := range p.Sections {
		if p.Sections[i].Kind == profile.Barrier {
			return &p.Sections[i]
		}
	}
	t.Fatalf("no barrier among %d sections", len(p.Sections))
	return nil
}

// TestCounters: what the kernel counts of a thread stands in the part in which it did it,
// whether control flow is counted, too, or not.
func TestCounters(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O1", "-g", "-pthread", proctest.Source(t, "faulting.c", faulting))
	for _, c := range []profiler.Config{{Backend: "perf", Events: []string{"hardware"}}, {Events: []string{"edges", "hardware"}}} {
		c.Path = prog
		p := counted(t, c)
		s := barrier(t, p)
		if len(s.Instances) != 3 || (p.Run.Backend == "perf") != (p.Instructions(p.Threads[1].Totals) == 0) {
			t.Fatalf("%s: %d instances, %d instructions", p.Run.Backend, len(s.Instances), p.Instructions(p.Threads[1].Totals))
		}
		for _, in := range s.Instances {
			for k := range in.Parts {
				q := &in.Parts[k]
				n := p.Totals(q.Counts)
				if faults := n[profile.PageFaults]; faults < uint64(100*k) || faults > uint64(100*k+30) {
					t.Errorf("%s: part %d has %d page faults, want %d and few more", p.Run.Backend, k, faults, 100*k)
				}
				if switches, known := n[profile.ContextSwitches]; known && k == 1 && switches < 20 {
					t.Errorf("%s: %d context switches where it slept 20 times", p.Run.Backend, switches)
				}
				clock := float64(n[string(profile.TaskClock)])
				most := 0.15*clock + 2e6 + 20e3*float64(n[profile.PageFaults]) // which are not busy time, and are slow on a busy machine
				if q.Timed && math.Abs(clock-float64(q.BusyNS)) > most {
					t.Errorf("%s: part %d took %v ns by the one clock, %d by the other", p.Run.Backend, k, clock, q.BusyNS)
				}
			}
		}
		for i := range p.Threads {
			x := &p.Threads[i]
			clock := float64(p.Totals(x.Totals)[string(profile.TaskClock)])
			apart := clock - float64(x.CPUNS)
			if i > 0 { // the first thread's own clock has run since before it was counted
				apart = math.Abs(apart)
			}
			if apart > 0.15*clock+2e6 {
				t.Errorf("%s: thread %d took %v ns by the one clock, %d by the other", p.Run.Backend, i, clock, x.CPUNS)
			}
		}
	}
}

// TestCountersKeepCounts: counters change no count of control flow.
func TestCountersKeepCounts(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", proctest.Source(t, "touching.c", touching))
	c := profiler.Config{Path: prog, Libraries: []string{"none"}}
	want := runWith(t, c)
	c.Events = []string{"edges", "hardware"}
	got := counted(t, c)
	got.Run.Machine = "none" // which is what is asked for
	keepsCounts(t, want, got)
}

// TestManyRecords: threads that meet often lose nothing, and those that are born and die in
// numbers are all counted.
func TestManyRecords(t *testing.T) {
	for name, src := range map[string]string{
		"often.c": `
#include <pthread.h>
static pthread_barrier_t all;
static void *work(void *p) { for (int i = 0; i < 3000; i++) pthread_barrier_wait(&all); return p; }
int main(void) {
	pthread_t t[3];
	pthread_barrier_init(&all, 0, 3);
	for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}`,
		"births.c": `
#include <pthread.h>
static void *work(void *p) { for (volatile int i = 0; i < 10000; i++) ; return p; }
int main(void) {
	pthread_t t[4];
	for (int k = 0; k < 100; k++) {
		for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
		for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	}
	return 0;
}`,
	} {
		prog := proctest.Build(t, "gcc", "-O1", "-g", "-pthread", proctest.Source(t, name, src))
		p := counted(t, profiler.Config{Path: prog, Backend: "perf", Events: []string{"hardware"}})
		for i := range p.Threads {
			if p.Totals(p.Threads[i].Totals)[string(profile.TaskClock)] == 0 {
				t.Errorf("%s: thread %d of %d took no time", name, i, len(p.Threads))
			}
		}
		if !slices.ContainsFunc(p.Sections, func(s profile.Section) bool { return len(s.Instances) > 0 }) {
			t.Errorf("%s: no sections", name)
		}
	}
}
