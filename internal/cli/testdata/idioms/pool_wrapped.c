/* A pool of threads: the first thread says go and waits until all are done, both
 * by condition variables of the project's own library, which wraps the system's.
 *
 * EXPECT lib=pool_wrapped.lib.c
 * EXPECT instances=20 rows=P cause=branch */
#include "idiom.h"

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

extern void *pl_new(void);
extern void pl_lock(void *), pl_unlock(void *), pl_wait(void *), pl_wake(void *);

static void *go, *done; /* each with a lock of its own */
static int job, pending;

static void *serve(void *arg)
{
    int id = number(arg);

    for (int next = 1; next <= ROUNDS; next++) {
        pl_lock(go);
        while (job < next)
            pl_wait(go);
        pl_unlock(go);
        share(id, next);
        pl_lock(done);
        if (--pending == 0)
            pl_wake(done);
        pl_unlock(done);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    go = pl_new();
    done = pl_new();
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 0; round < ROUNDS; round++) {
        pl_lock(done);
        pending = P;
        pl_lock(go);
        job++;
        pl_wake(go);
        pl_unlock(go);
        while (pending > 0)
            pl_wait(done); /* SECTION */
        pl_unlock(done);
    }
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
