/* One thread makes pieces, one after the other, that the others wait for; all do
 * as much. FIXED hands out each piece before it does its part of the work.
 *
 * EXPECT silent=yes wait=condition waker=HOLD instances=5 rows=P least=4 */
#include "idiom.h"

enum { ROUNDS = 5 };

static uint64_t each;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int pieces;

static pthread_barrier_t meet;

static void make(int round)
{
    for (int i = 1; i < P; i++) {
#ifndef FIXED
        results[0].sum += work(round * 1000 + i, each / (P - 1));
#endif
        pthread_mutex_lock(&lock);
        pieces++;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&filled); /* HOLD */
    }
#ifdef FIXED
    for (int i = 1; i < P; i++)
        results[0].sum += work(round * 1000 + i, each / (P - 1));
#endif
}

static void take(int id, int round)
{
    pthread_mutex_lock(&lock);
    while (pieces == 0)
        pthread_cond_wait(&filled, &lock); /* WAIT */
    pieces--;
    pthread_mutex_unlock(&lock);
    results[id].sum += work(round * 777 + id, each);
}

static void share(int id, int round)
{
    if (id == 0)
        make(round);
    else
        take(id, round);
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
