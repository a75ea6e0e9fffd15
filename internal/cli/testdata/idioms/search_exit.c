/* A search that is left where something is found: who searches among large
 * numbers searches for longer, and finds as little. Where the choice of the range is a
 * branch (gcc's -O0), and all else is constants, this is what decides.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=loop|branch */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 16 };

static unsigned numbers; /* of an item */

static pthread_barrier_t meet;

static int prime(unsigned n)
{
    for (unsigned d = 2; d * d <= n; d++) /* PLANTED */
        if (n % d == 0) /* PLANTED */
            return 0;
    return 1;
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        unsigned from = (i >= P * EACH * 3 / 4 ? 9000000u : 90000u) + (unsigned)round * numbers; /* PLANTED */
        for (unsigned n = from; n < from + numbers; n++)
            results[id].sum += (uint64_t)prime(n) * n;
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
    numbers = (unsigned)(budget / ROUNDS / (uint64_t)(P * EACH * 150)) + 1;
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
