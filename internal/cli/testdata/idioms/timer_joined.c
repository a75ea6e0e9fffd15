/* A timer ticks beside the threads that work, and is joined when all is done.
 *
 * EXPECT instances=5 rows=P kind=join cause=branch */
#include "idiom.h"
#include <time.h>

enum { ROUNDS = 5, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */
static int round_now;
static volatile int over, ticks;

static void *share(void *arg)
{
    int id = (int)(intptr_t)arg;
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round_now * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
    return 0;
}

static void *tick(void *arg)
{
    (void)arg;
    while (!over) {
        struct timespec t = {0, 1000000};
        nanosleep(&t, 0);
        ticks++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t timer, threads[MAX_THREADS];
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
    pthread_create(&timer, 0, tick, 0);
    for (round_now = 0; round_now < ROUNDS; round_now++) {
        for (int t = 0; t < P; t++)
            pthread_create(&threads[t], 0, share, (void *)(intptr_t)t);
        for (int t = 0; t < P; t++)
            pthread_join(threads[t], 0); /* SECTION */
    }
    over = 1;
    pthread_join(timer, 0);
    return answer();
}
