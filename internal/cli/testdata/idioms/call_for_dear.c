/* A call for dear items and one for cheap ones, of one function: who calls where tells how
 * much is to do, also where one thread alone has dear ones.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static pthread_barrier_t meet;

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x;
        if (i >= P * EACH * 3 / 4) { /* PLANTED */
            x = refine(round * 1000 + i, 3);
            x = work(x, DEAR * each);
        } else
            x = work(round * 1000 + i, each);
        results[id].sum += x;
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
    each = budget / ROUNDS / (P * EACH * 3);
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
