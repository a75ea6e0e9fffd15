/* Two barriers in turn: what is before one of them is dealt badly.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"

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
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

static pthread_barrier_t before, after;

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        results[id].sum += work(round * 555 + id, EACH * each);
        pthread_barrier_wait(&before); /* BALANCED */
        share(id, round);
        pthread_barrier_wait(&after); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    pthread_barrier_init(&before, NULL, P);
    pthread_barrier_init(&after, NULL, P);
    team(run);
    return answer();
}
