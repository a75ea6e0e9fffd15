/* The first thread takes part, and the body is inlined both into main and into
 * the function of the other threads: two copies of each line.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
}

static inline __attribute__((always_inline)) void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

static pthread_barrier_t meet;

static inline __attribute__((always_inline)) void body(int id)
{
    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        pthread_barrier_wait(&meet); /* SECTION */
    }
}

static void *run(void *arg)
{
    body(number(arg));
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    pthread_barrier_init(&meet, NULL, P);
    for (int t = 1; t < P; t++)
        start(t, run);
    body(0);
    for (int t = 1; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
