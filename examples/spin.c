/* The first thread prepares the input while the others spin on a flag. The
 * spinning threads are busy, but they do nothing: the imbalance begins where
 * one thread alone prepares, not in the loop that waits.
 *
 * FIXED lets every thread prepare a part; it still spins, for a moment. */
#include "example.h"

enum { ROUNDS = 2 };

static pthread_barrier_t meet;
static int ready; /* parts prepared so far, in all rounds */

static uint64_t prepare(int round, int first, int stride)
{
    uint64_t sum = 0;
    for (int part = first; part < 4 * P; part += stride)
        sum += work(round * 10000 + part, budget / 4 / ROUNDS / (4 * P));
    return sum;
}

static void await(int parts)
{
    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < parts)
        ;
}

static void *run(void *arg)
{
    struct worker *me = arg;

    for (int round = 0; round < ROUNDS; round++) {
#ifdef FIXED
        me->result += prepare(round, me->id, P);
        __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
        await((round + 1) * P);
#else
        if (me->id == 0) { /* PLANTED */
            me->result += prepare(round, 0, 1);
            __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
        }
        await(round + 1);
#endif
        me->result += work(round * 777 + me->id, budget / 2 / ROUNDS / P);
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    pthread_barrier_init(&meet, NULL, P);
    together(run);
    return answer();
}
