/* Threads that are woken by a semaphore of each, and say by another one that they are
 * done. What sets them apart is the first that they do when they come out of the wait.
 *
 * EXPECT instances=20 rows=P cause=branch least=4 */
#include "idiom.h"
#include <semaphore.h>

enum { ROUNDS = 20, DEAR = 8 };

static uint64_t each; /* steps for a thread in a round, without the dear piece */
static sem_t go[MAX_THREADS], done[MAX_THREADS];

static void piece(int id, uint64_t steps)
{
    if (refine(id, steps) == 0) /* hardly ever */
        results[id].sum++;
}

static void share(int id, int round)
{
#ifdef FIXED
    piece(id, DEAR / 4 * each);
#else
    if ((id + round) % 4 == 3) /* PLANTED */
        piece(id, DEAR * each);
#endif
    results[id].sum += work(id + round, each);
}

static void *serve(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        sem_wait(&go[id]);
        share(id, round);
        sem_post(&done[id]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * 3);
    for (int t = 0; t < P; t++) {
        sem_init(&go[t], 0, 0);
        sem_init(&done[t], 0, 0);
        start(t, serve);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int t = 0; t < P; t++)
            sem_post(&go[t]);
        for (int t = 0; t < P; t++)
            sem_wait(&done[t]); /* SECTION */
    }
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
