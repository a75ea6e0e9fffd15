/* A thread that asks another one and waits for the answer is no pool, nor are
 * two that it asks in turn.
 *
 * EXPECT silent=yes */
#include "idiom.h"
#include <semaphore.h>

enum { ROUNDS = 40 };

static uint64_t each;
static sem_t ask[2], answered;

static void *reply(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        sem_wait(&ask[id]);
        results[id].sum += work(round * 2 + id, each);
        sem_post(&answered);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / 3;
    sem_init(&answered, 0, 0);
    for (int t = 0; t < 2; t++) {
        sem_init(&ask[t], 0, 0);
        start(t, reply);
    }
    for (int i = 0; i < 2 * ROUNDS; i++) {
        sem_post(&ask[i % 2]);
        sem_wait(&answered); /* NONE */
    }
    for (int t = 0; t < 2; t++)
        pthread_join(handles[t], NULL); /* SECTION */
    return answer();
}
