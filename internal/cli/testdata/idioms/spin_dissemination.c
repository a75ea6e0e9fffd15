/* A dissemination barrier: in each of log P rounds a thread tells one other and waits
 * for one other.
 *
 * EXPECT instances=3 most=4 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <stdatomic.h>

enum { ROUNDS = 3, EACH = 8, DEAR = 8 };
static uint64_t each;
static struct { _Alignas(64) _Atomic int n; } told[6][MAX_THREADS];

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
    for (int r = 0, far = 1; far < P; r++, far *= 2) {
        atomic_fetch_add(&told[r][(id + far) % P].n, 1);
        while (atomic_load(&told[r][id].n) < round)
            ;
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
