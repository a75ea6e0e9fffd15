/* A pool of threads: the first thread says go and waits until all are done, both
 * by semaphores, and does no work itself.
 *
 * EXPECT instances=20 rows=P cause=loop */
#include "idiom.h"
#include <semaphore.h>

enum { ROUNDS = 20, EACH = 4 };

static uint64_t each; /* steps for an element of the triangle */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS * 2 / (P * EACH * (P * EACH + 1));
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int row = dealt(id, k, EACH);
        uint64_t x = round;
        for (int c = 0; c <= row; c++) /* PLANTED */
            x = work(x + c, each);
        results[id].sum += x;
    }
}

static sem_t go[MAX_THREADS], done;

static void *serve(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        sem_wait(&go[id]);
        share(id, round);
        sem_post(&done);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    sem_init(&done, 0, 0);
    for (int t = 0; t < P; t++) {
        sem_init(&go[t], 0, 0);
        start(t, serve);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int t = 0; t < P; t++)
            sem_post(&go[t]);
        for (int t = 0; t < P; t++)
            sem_wait(&done); /* SECTION */
    }
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
