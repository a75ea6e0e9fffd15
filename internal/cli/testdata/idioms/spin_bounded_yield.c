/* A barrier that spins for a while, and then yields.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <stdatomic.h>
#include <sched.h>

enum { ROUNDS = 10, PIECES = 4 };

static uint64_t each; /* steps for a piece of what is gathered */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (2 * PIECES * P);
}

static void gather(int id, int round, int first, int stride)
{
    for (int i = first; i < PIECES * P; i += stride)
        results[id].sum += work(round * 1000 + i, each);
}

static void share(int id, int round)
{
    results[id].sum += work(round * 777 + id, PIECES * each);
#ifdef FIXED
    gather(id, round, id, P);
#else
    if (id == 0) /* PLANTED */
        gather(id, round, 0, 1);
#endif
}

static _Atomic int here, sense;
static _Thread_local int mine;

static void meet(void)
{
    mine = !mine;
    if (atomic_fetch_add(&here, 1) + 1 == P) {
        here = 0;
        atomic_store_explicit(&sense, mine, memory_order_release);
    } else {
        for (int n = 0; atomic_load_explicit(&sense, memory_order_acquire) != mine; n++)
            if (n < 1000)
                __builtin_ia32_pause();
            else
                sched_yield();
    }
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        meet(); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    team(run);
    return answer();
}
