/* Whole units of work, half as many as there are threads. FIXED cuts them.
 *
 * EXPECT whole=0
 * EXPECT instances=10 rows=P kind=barrier cause=loop|branch */
#include "idiom.h"

enum { ROUNDS = 10 };

static uint64_t each;
static int units;

static uint64_t piece(int round, int unit, int part)
{
    return work((round * 1000 + unit) * 1000 + part, each);
}

static pthread_barrier_t meet;

static void share(int id, int round)
{
#ifdef FIXED
    for (int unit = 0; unit < units; unit++)
        results[id].sum += piece(round, unit, id);
#else
    for (int unit = id; unit < units; unit += P) /* PLANTED */
        for (int part = 0; part < P; part++)
            results[id].sum += piece(round, unit, part);
#endif
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
    units = P / 2;
    each = budget / ROUNDS / (units * P);
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
