package profiler_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// record builds a C program and records it.
func record(t *testing.T, source string, args ...string) (*profiler.Recording, string, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", proctest.Source(t, "prog.c", source))
	r, err := profiler.Record(context.Background(), profiler.Config{Path: prog, Args: args, Stdout: out, Stderr: out})
	b, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return r, string(b), err
}

const alternate = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_barrier_t meet;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;
static void *work(void *arg)
{
    for (int r = 0; r < 3; r++) {
        unsigned long x = (unsigned long)arg;
        for (unsigned long i = 0; i < 3000000 * (1 + (unsigned long)arg); i++)
            x = x * 6364136223846793005ul + 1442695040888963407ul;
        pthread_mutex_lock(&lock);
        sum += x;
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&meet);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    pthread_t t[16];
    pthread_barrier_init(&meet, NULL, n);
    for (long i = 0; i < n; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    printf("%lu\n", sum);
    return argc > 2 ? atoi(argv[2]) : 0;
}
`

// What threads take up to where they meet is recorded, and nothing is counted; a lone
// thread's sections are the same ones.
func TestRecord(t *testing.T) {
	var line string
	for _, n := range []string{"1", "2", "3"} {
		r, out, err := record(t, alternate, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(strings.TrimSpace(out)) < 5 || strings.Count(out, "\n") != 1 {
			t.Errorf("%s threads: it said %q", n, out)
		}
		var barrier *profile.Section
		for i := range r.Profile.Sections {
			s := &r.Profile.Sections[i]
			if s.Kind == profile.Barrier {
				barrier = s
			}
			for k := range s.Instances {
				for _, q := range s.Instances[k].Parts {
					if len(q.Counts.Event) > 0 {
						t.Errorf("%s threads: counted %v", n, q.Counts)
					}
				}
			}
		}
		if barrier == nil || len(barrier.Instances) != 3 || len(barrier.PartsBySlot()) != int(n[0]-'0') {
			t.Fatalf("%s threads: sections %+v", n, r.Profile.Sections)
		}
		at, _ := r.Profile.Location(barrier.Site)
		if now := fmt.Sprint(at.Function, at.Line); line != "" && now != line {
			t.Errorf("the barrier is at %s with %s threads, else at %s", now, n, line)
		} else {
			line = now
		}
		parts := barrier.PartsBySlot()
		first, last := parts[0], parts[len(parts)-1]
		if !first.Timed || first.BusyNS <= 0 || len(parts) > 1 && last.BusyNS <= first.BusyNS {
			t.Errorf("%s threads: the first works %d ns, the last, which has more to do, %d ns", n, first.BusyNS, last.BusyNS)
		}
		if r.CPU <= 0 || r.Queue < 0 || r.Seen <= 0 || r.Seen > 1 {
			t.Errorf("%s threads: %+v", n, r)
		}
	}
}

// Runs that fail are not taken for runs.
func TestRecordFails(t *testing.T) {
	if r, _, err := record(t, alternate, "2", "3"); err == nil || r != nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := profiler.Record(context.Background(), profiler.Config{Path: "/no/such/program"}); err == nil {
		t.Error("no error")
	}
	if r, _, err := record(t, `int main(void) { __builtin_trap(); }`); err == nil || r != nil || !strings.Contains(err.Error(), "SIGILL") {
		t.Errorf("%+v, %v", r, err)
	}
}

// By turns all threads have one core, and nothing else changes.
func TestRecordTurns(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", "-D_GNU_SOURCE", proctest.Source(t, "prog.c", alternate))
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, err := profiler.RecordTurns(context.Background(), profiler.Config{Path: prog, Args: []string{"3"}, Stdout: null, Stderr: null}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Profile.Sections {
		if s := &r.Profile.Sections[i]; s.Kind == profile.Barrier {
			busy := int64(0)
			for _, q := range s.PartsBySlot() {
				busy += q.BusyNS
			}
			if len(s.Instances) != 3 || busy > s.Time()+s.Time()/20 {
				t.Errorf("%d instances, of %d ns in %d ns: on more than one core", len(s.Instances), busy, s.Time())
			}
			return
		}
	}
	t.Errorf("%+v", r.Profile.Sections)
}

// Threads that spin for each other for ever, as it is with one core, are given up.
func TestRecordTurnsGivesUp(t *testing.T) {
	prog := proctest.Build(t, "gcc", "-O2", "-g", "-pthread", proctest.Source(t, "prog.c", `int main(void) { for (;;) __asm__ volatile(""); }`))
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if r, err := profiler.RecordTurns(context.Background(), profiler.Config{Path: prog, Stdout: null, Stderr: null}, 200*time.Millisecond); !errors.Is(err, profiler.ErrTurns) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}
