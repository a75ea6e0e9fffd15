/* A tree barrier: children tell their parent, the root sets all free.
 *
 * EXPECT instances=3 most=4 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <stdatomic.h>

enum { ROUNDS = 3, EACH = 8, DEAR = 8 };
static uint64_t each;
static struct { _Alignas(64) _Atomic int n; } up[MAX_THREADS];
static _Atomic int free_;

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

static void meet(int id, int round)
{
    for (int c = 2 * id + 1; c <= 2 * id + 2 && c < P; c++)
        while (atomic_load_explicit(&up[c].n, memory_order_acquire) < round)
            ;
    if (id > 0) {
        atomic_store_explicit(&up[id].n, round, memory_order_release);
        while (atomic_load_explicit(&free_, memory_order_acquire) < round)
            ;
    } else {
        atomic_store_explicit(&free_, round, memory_order_release);
    }
}

static void *run(void *arg)
{
    int id = number(arg);
    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        meet(id, round + 1); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
    team(run);
    return answer();
}
