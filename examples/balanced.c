/* Nothing is wrong here. The threads take different branches, call different
 * functions and run one loop a different number of times, but all of that
 * costs next to nothing: decoys. There is no cause to report, FIXED or not. */
#include "example.h"

enum { ROUNDS = 4, ITEMS = 96 };

static pthread_barrier_t meet;

__attribute__((noinline)) static uint64_t note(uint64_t x)
{
    return x ^ x << 13;
}

__attribute__((noinline)) static uint64_t remember(uint64_t x)
{
    return x + (x >> 7);
}

static void *run(void *arg)
{
    struct worker *me = arg;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t x = round;
        for (int k = 0; k < ITEMS; k++) {
            x = work(x + k, budget / ROUNDS / ITEMS / P);
            if (k % P < me->id) /* a decoy: taken 0 … P−1 times in P */
                x = note(x);
            if (me->id % 2 == 0 && k % 3 == 0) /* a decoy: half of the threads */
                x = remember(x);
        }
        for (int n = 0; n < me->id; n++) /* a decoy: a loop that differs */
            x = note(x + n);
        me->result += x;
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    pthread_barrier_init(&meet, NULL, P);
    together(run);
    return answer();
}
