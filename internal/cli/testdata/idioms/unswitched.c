/* What only the first thread does is tested in the loop of rounds. Compilers test
 * it once, before the loop, and make a copy of the loop for either case.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 10, PIECES = 4 };

static uint64_t each; /* steps for a piece of what is gathered */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (2 * PIECES * P);
}

static void gather(int id, int round, int first, int stride)
{
    for (int i = first; i < PIECES * P; i += stride)
        results[id].sum += work(round * 1000 + i, each);
}

static void share(int id, int round)
{
    results[id].sum += work(round * 777 + id, PIECES * each);
#ifdef FIXED
    gather(id, round, id, P);
#else
    if (id == 0) /* PLANTED */
        gather(id, round, 0, 1);
#endif
}

static pthread_barrier_t barrier;

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        pthread_barrier_wait(&barrier); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    pthread_barrier_init(&barrier, NULL, P);
    team(run);
    return answer();
}
