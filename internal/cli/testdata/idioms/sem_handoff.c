/* One thread works before it lets the others begin, by a semaphore, with as much
 * work. FIXED lets them begin first.
 *
 * EXPECT silent=yes wait=condition waker=HOLD instances=5 rows=P least=4 */
#include "idiom.h"
#include <semaphore.h>

enum { ROUNDS = 5 };

static uint64_t each;
static sem_t begin;

static pthread_barrier_t meet;

static void let_begin(void)
{
    for (int i = 1; i < P; i++)
        sem_post(&begin); /* HOLD */
}

static void share(int id, int round)
{
    if (id > 0)
        sem_wait(&begin); /* WAIT */
#ifdef FIXED
    if (id == 0)
        let_begin();
#endif
    results[id].sum += work(round * 1000 + id, each);
#ifndef FIXED
    if (id == 0)
        let_begin();
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
    sem_init(&begin, 0, 0);
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
