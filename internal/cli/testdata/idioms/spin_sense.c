/* A sense-reversing barrier that spins, of C11 atomics.
 *
 * EXPECT instances=3 most=4 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <stdatomic.h>

enum { ROUNDS = 3, EACH = 8, DEAR = 8 };

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

static _Atomic int here, sense;
static _Thread_local int mine;

static void meet(void)
{
    mine = !mine;
    if (atomic_fetch_add(&here, 1) + 1 == P) {
        here = 0;
        atomic_store_explicit(&sense, mine, memory_order_release);
    } else {
        while (atomic_load_explicit(&sense, memory_order_acquire) != mine)
            ;
    }
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
    team(run);
    return answer();
}
