package profiler_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler"
	"github.com/skewlens/skewlens/profiler/internal/proctest"
)

// crowding: two threads work for as long as each other, on one core.
const crowding = `
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static void *work(void *sum)
{
    volatile unsigned long *x = sum;
    for (unsigned long i = 0; i < 60000000; i++)
        *x += i;
    return NULL;
}

int main(void)
{
    unsigned long sums[2] = {0};
    cpu_set_t here, one;
    sched_getaffinity(0, sizeof here, &here);
    CPU_ZERO(&one);
    for (int c = 0; CPU_COUNT(&one) == 0; c++)
        if (CPU_ISSET(c, &here))
            CPU_SET(c, &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_t t;
    pthread_create(&t, NULL, work, &sums[0]);
    work(&sums[1]);
    pthread_join(t, NULL);
    printf("%lu\n", sums[0] - sums[1]);
    return 0;
}
`

// TestDisturbed: the kernel says of threads that others kept them from a core; here it is each
// other. (That they were not kept cannot be tested on a machine that others use.)
func TestDisturbed(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("two threads are more than the cores here")
	}
	p := sameAs(t, profiler.Config{Path: proctest.Build(t, "gcc", "-O1", "-pthread", proctest.Source(t, "crowding.c", crowding))})
	if !slices.ContainsFunc(p.Warnings, func(w profile.Warning) bool { return w.Code == "disturbed" }) {
		t.Errorf("not said that two threads had one core: %+v", p.Warnings)
	}
}
