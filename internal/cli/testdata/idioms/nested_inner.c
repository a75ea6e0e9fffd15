/* Two nested loops, of which the inner one repeats more often in some threads;
 * the outer one is the same for all.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=loop */
#include "idiom.h"

enum { ROUNDS = 10, ROWS = 8 };

static uint64_t each;
static int first[MAX_THREADS], columns[MAX_THREADS]; /* by thread */

static pthread_barrier_t meet;

static void share(int id, int round)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < columns[id]; j++) /* PLANTED */
            results[id].sum += work((round * ROWS + i) * 1000 + first[id] + j, each);
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
        columns[t] = P + 1;
        first[t] = t * (P + 1);
#else
        columns[t] = 2 * (t + 1);
        first[t] = t * (t + 1);
#endif
    }
    each = budget / ROUNDS / ROWS / (P * (P + 1));
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
