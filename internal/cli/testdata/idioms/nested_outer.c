/* Two nested loops, of which the outer one repeats more often in some threads;
 * the inner one is the same for all.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=loop */
#include "idiom.h"

enum { ROUNDS = 10, COLUMNS = 8 };

static uint64_t each;
static int first[MAX_THREADS], rows[MAX_THREADS]; /* by thread */

static pthread_barrier_t meet;

static void share(int id, int round)
{
    for (int i = first[id]; i < first[id] + rows[id]; i++) /* PLANTED */
        for (int j = 0; j < COLUMNS; j++)
            results[id].sum += work((round * 1000 + i) * COLUMNS + j, each);
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
    for (int t = 0; t < P; t++) {
#ifdef FIXED
        rows[t] = P + 1;
        first[t] = t * (P + 1);
#else
        rows[t] = 2 * (t + 1);
        first[t] = t * (t + 1);
#endif
    }
    each = budget / ROUNDS / COLUMNS / (P * (P + 1));
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
