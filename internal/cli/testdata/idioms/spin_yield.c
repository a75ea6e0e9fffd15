/* A sense-reversing barrier that yields while it waits.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=loop */
#include "idiom.h"
#include <stdatomic.h>
#include <sched.h>

enum { ROUNDS = 10, EACH = 4 };

static uint64_t each; /* steps for an element of the triangle */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS * 2 / (P * EACH * (P * EACH + 1));
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
            sched_yield();
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
