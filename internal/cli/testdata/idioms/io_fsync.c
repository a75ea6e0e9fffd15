/* One thread writes a file in each round and waits until it is on the disk, beside
 * the work that is the same for all.
 *
 * EXPECT silent=yes wait=io instances=5 rows=P */
#include "idiom.h"
#include <unistd.h>

enum { ROUNDS = 5 };

static uint64_t each;
static int file;

static pthread_barrier_t meet;

static void share(int id, int round)
{
    results[id].sum += work(round * 1000 + id, each);
#ifndef FIXED
    if (id == 0) {
        static char page[65536];
        if (pwrite(file, page, sizeof page, 0) != sizeof page || fsync(file) != 0) /* WAIT */
            abort();
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
    char name[] = "idiom-XXXXXX";
    file = mkstemp(name);
    if (file < 0)
        abort();
    unlink(name);
    each = budget / ROUNDS / P;
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
