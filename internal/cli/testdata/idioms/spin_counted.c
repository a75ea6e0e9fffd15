/* A sense-reversing barrier that looks a hundred times, without a pause, and then
 * yields.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <sched.h>
#include <stdatomic.h>

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

static _Atomic int left;
static _Atomic int sense;

static void meet(int *mine)
{
    *mine = !*mine;
    if (atomic_fetch_sub(&left, 1) == 1) {
        atomic_store_explicit(&left, P, memory_order_relaxed);
        atomic_store_explicit(&sense, *mine, memory_order_release);
        return;
    }
    for (int looks = 0; atomic_load_explicit(&sense, memory_order_acquire) != *mine;)
        if (++looks > 100) {
            sched_yield();
            looks = 0;
        }
}

static void *body(void *arg)
{
    int mine = 0;
    for (int round = 0; round < ROUNDS; round++) {
        share(number(arg), round);
        meet(&mine); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    left = P;
    team(body);
    return answer();
}
