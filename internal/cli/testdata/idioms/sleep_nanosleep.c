/* One thread sleeps in each round, beside the work that is the same for all.
 *
 * EXPECT silent=yes wait=sleep instances=5 rows=P */
#include "idiom.h"
#include <time.h>

enum { ROUNDS = 5 };

static uint64_t each;

static pthread_barrier_t meet;

static void share(int id, int round)
{
    results[id].sum += work(round * 1000 + id, each);
#ifndef FIXED
    if (id == 0) {
        struct timespec moment = {0, 4000000};
        nanosleep(&moment, NULL); /* WAIT */
    }
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
    each = budget / ROUNDS / P;
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
