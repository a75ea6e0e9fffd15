/* A barrier of POSIX semaphores: two turnstiles, as in the Little Book of
 * Semaphores.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <semaphore.h>

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

static sem_t mutex, first, second;
static int here;

static void meet(void)
{
    sem_wait(&mutex);
    if (++here == P) {
        sem_wait(&second);
        sem_post(&first);
    }
    sem_post(&mutex);
    sem_wait(&first);
    sem_post(&first);

    sem_wait(&mutex);
    if (--here == 0) {
        sem_wait(&first);
        sem_post(&second);
    }
    sem_post(&mutex);
    sem_wait(&second);
    sem_post(&second);
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        meet(); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    sem_init(&mutex, 0, 1);
    sem_init(&first, 0, 0);
    sem_init(&second, 0, 1);
    team(run);
    return answer();
}
