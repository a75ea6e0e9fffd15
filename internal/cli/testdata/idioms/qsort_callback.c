/* What the C library's qsort calls back does the work; who sorts the long
 * tables does more of it. How often is decided in the library, by the length: where
 * the compiler leaves a branch that sets this, as gcc's -O3 does, that is the cause
 * (both lengths are constants), and else the call of the library.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch gain=any */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 8, LONGER = 4, SHORT = 12 };

static uint64_t each; /* steps for a comparison */

static pthread_barrier_t meet;

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    if (work(x ^ y, each) == 0)
        return 0;
    return (x > y) - (x < y);
}

static uint64_t sorted(int round, int n)
{
    uint64_t table[SHORT * LONGER], x = (uint64_t)round;

    for (int k = 0; k < n; k++)
        table[k] = x = step(x + 1);
    qsort(table, (size_t)n, sizeof *table, compare); /* PLANTED */
    return table[n / 2];
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        results[id].sum += sorted(round, i >= P * EACH * 3 / 4 ? SHORT * LONGER : SHORT); /* PLANTED */
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
    each = budget / ROUNDS / (uint64_t)(P * EACH * 100) + 1;
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
