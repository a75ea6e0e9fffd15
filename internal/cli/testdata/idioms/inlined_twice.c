/* A helper that compilers inline at two calls, and both run: it is one decision of the
 * source, whose gain is that of both. One makes some threads slow and the other one others.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch least=4 */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static pthread_barrier_t meet;

__attribute__((always_inline)) static inline uint64_t item(uint64_t x, int dear)
{
    if (dear) /* PLANTED */
        x = refine(x, DEAR * each);
    return x;
}

__attribute__((noinline)) static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        x = work(item(x, i >= P * EACH * 3 / 4), each);
        results[id].sum += item(x, i < P * EACH / 4);
    }
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 6);
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
