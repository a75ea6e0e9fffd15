/* A hybrid barrier: it spins for a while, and then sleeps on a futex.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <stdatomic.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static _Atomic int here, sense;
static _Thread_local int mine;

static void meet(void)
{
    mine = !mine;
    if (atomic_fetch_add(&here, 1) + 1 == P) {
        here = 0;
        atomic_store_explicit(&sense, mine, memory_order_release);
        syscall(SYS_futex, &sense, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    } else {
        int n = 0;
        while (atomic_load_explicit(&sense, memory_order_acquire) != mine)
            if (n < 1000) {
                n++;
                __builtin_ia32_pause();
            } else {
                syscall(SYS_futex, &sense, FUTEX_WAIT_PRIVATE, !mine, NULL, NULL, 0);
            }
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
