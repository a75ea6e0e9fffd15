/* A pool of threads that wait for their next job by futex(2), and count down an
 * atomic when they are done; the first thread waits for that by futex too.
 *
 * EXPECT instances=20 rows=P cause=branch */
#include "idiom.h"
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

static atomic_int job, pending;

static void wait_while(atomic_int *at, int value)
{
    syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(atomic_int *at)
{
    syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *serve(void *arg)
{
    int id = number(arg);

    for (int next = 1; next <= ROUNDS; next++) {
        int now;
        while ((now = atomic_load(&job)) < next)
            wait_while(&job, now);
        share(id, next);
        if (atomic_fetch_sub(&pending, 1) == 1)
            wake(&pending);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 1; round <= ROUNDS; round++) {
        int left;
        atomic_store(&pending, P);
        atomic_store(&job, round);
        wake(&job);
        while ((left = atomic_load(&pending)) > 0)
            wait_while(&pending, left); /* SECTION */
    }
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
