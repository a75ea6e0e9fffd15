/* A pool of threads that spin until there is a job; the first thread spins until
 * all are done.
 *
 * EXPECT instances=20 rows=P cause=branch */
#include "idiom.h"
#include <sched.h>
#include <stdatomic.h>

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

static atomic_int job, done;

static void *serve(void *arg)
{
    int id = number(arg);

    for (int next = 1; next <= ROUNDS; next++) {
        while (atomic_load_explicit(&job, memory_order_acquire) < next)
            sched_yield();
        share(id, next);
        atomic_fetch_add(&done, 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_store_explicit(&job, round, memory_order_release);
        while (atomic_load_explicit(&done, memory_order_acquire) < round * P)
            sched_yield(); /* SECTION */
    }
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
