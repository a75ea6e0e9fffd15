/* One long critical section: all threads do the same, one after the other. FIXED
 * does the work before it takes the lock.
 *
 * EXPECT silent=yes wait=lock instances=5 rows=P */
#include "idiom.h"

enum { ROUNDS = 5 };

static uint64_t each;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;

static pthread_barrier_t meet;

static void share(int id, int round)
{
    uint64_t seed = round * 1000 + id;
#ifdef FIXED
    uint64_t x = work(seed, each);
    pthread_mutex_lock(&lock); /* WAIT */
#else
    pthread_mutex_lock(&lock); /* WAIT */
    uint64_t x = work(seed, each);
#endif
    total += x;
    pthread_mutex_unlock(&lock);
    results[id].sum += x;
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
