/* One thread works while it holds a lock for writing, and the others want to read.
 * FIXED has the work done before it takes the lock.
 *
 * EXPECT silent=yes wait=lock waker=HOLD rows=P least=4 */
#include "idiom.h"

enum { ROUNDS = 5 };

static uint64_t each;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t table;

static pthread_barrier_t held, meet;

static void update(int round)
{
#ifdef FIXED
    uint64_t x = work(round * 1000, each);
#endif
    pthread_rwlock_wrlock(&lock);
    pthread_barrier_wait(&held);
#ifndef FIXED
    uint64_t x = work(round * 1000, each);
#endif
    table += x;
    pthread_rwlock_unlock(&lock); /* HOLD */
}

static void look_up(int id, int round)
{
#ifdef FIXED
    results[id].sum += work(round * 1000 + id, each);
#endif
    pthread_barrier_wait(&held);
    pthread_rwlock_rdlock(&lock); /* WAIT */
    results[id].sum += table & 1;
    pthread_rwlock_unlock(&lock);
#ifndef FIXED
    results[id].sum += work(round * 1000 + id, each);
#endif
}

static void share(int id, int round)
{
    if (id == 0)
        update(round);
    else
        look_up(id, round);
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
