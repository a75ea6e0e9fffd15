/* One of the team, which is main itself, has somebody write down what is done while it
 * works, in each round: a thread of its own that it joins before the barrier.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=loop */
#include "idiom.h"

enum { ROUNDS = 20, EACH = 4 };

static uint64_t each; /* steps for an element of the triangle */
static pthread_barrier_t barrier;
static uint64_t written;

static void *write_down(void *arg)
{
    written += work((uint64_t)(intptr_t)arg, 10);
    return NULL;
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

static void *run(void *arg)
{
    int id = number(arg);
    pthread_t helper;

    for (int round = 0; round < ROUNDS; round++) {
        if (id == 0)
            pthread_create(&helper, NULL, write_down, (void *)(intptr_t)round);
        share(id, round);
        if (id == 0)
            pthread_join(helper, NULL);
        pthread_barrier_wait(&barrier); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS * 2 / (P * EACH * (P * EACH + 1));
    pthread_barrier_init(&barrier, NULL, P);
    for (int t = 1; t < P; t++)
        start(t, run);
    run(NULL);
    for (int t = 1; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
