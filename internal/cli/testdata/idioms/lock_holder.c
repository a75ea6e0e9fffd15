/* One thread works while it holds a lock that the others want for a moment before
 * they do as much. FIXED lets go of it first.
 *
 * EXPECT silent=yes wait=lock waker=HOLD rows=P least=4 */
#include "idiom.h"

enum { ROUNDS = 5 };

static uint64_t each;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;

static pthread_barrier_t held, meet;

static void keep(int round)
{
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&held);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
    results[0].sum += work(round * 1000, each);
#else
    results[0].sum += work(round * 1000, each);
    pthread_mutex_unlock(&lock); /* HOLD */
#endif
}

static void want(int id, int round)
{
    pthread_barrier_wait(&held);
    pthread_mutex_lock(&lock); /* WAIT */
    total += id;
    pthread_mutex_unlock(&lock);
    results[id].sum += work(round * 1000 + id, each);
}

static void share(int id, int round)
{
    if (id == 0)
        keep(round);
    else
        want(id, round);
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
    pthread_barrier_init(&held, NULL, P);
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
