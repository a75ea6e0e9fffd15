/* One thread reads from a slow process in each round, beside the work that is the
 * same for all. FIXED: what it reads has been there before.
 *
 * EXPECT silent=yes wait=io instances=5 rows=P */
#include "idiom.h"
#include <unistd.h>

enum { ROUNDS = 5 };

static uint64_t each;
static int input;

static void feed(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    input = ends[0];
    if (fork() != 0)
        return;
    for (int round = 0; round < ROUNDS; round++) {
#ifndef FIXED
        usleep(6000);
#endif
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static pthread_barrier_t meet;

static void share(int id, int round)
{
    results[id].sum += work(round * 1000 + id, each);
    if (id == 0) {
        char byte;
        if (read(input, &byte, 1) != 1) /* WAIT */
            abort();
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
    feed();
    each = budget / ROUNDS / P;
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
