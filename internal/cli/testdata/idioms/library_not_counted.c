/* The work is in a shared library of the user's own, and it was said that none
 * counts.
 *
 * EXPECT least=4 saving=0.67 lib=shared_library.lib.c count=none
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"

extern uint64_t grind(uint64_t x, uint64_t n);
extern uint64_t polish(uint64_t x, uint64_t n);

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

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
        uint64_t x = grind(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = polish(x, DEAR * each);
        results[id].sum += x;
    }
}

static pthread_barrier_t meet;

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
    prepare(argc, argv);
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
