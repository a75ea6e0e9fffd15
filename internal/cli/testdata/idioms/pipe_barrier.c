/* A pipe as the gate of a barrier: the last thread that comes writes a byte for
 * each of the others.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <stdatomic.h>
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

static int gates[2][2];
static _Atomic int here, turn;

static void meet(void)
{
    char bytes[MAX_THREADS] = {0};
    int gate = turn % 2;
    if (atomic_fetch_add(&here, 1) + 1 == P) {
        here = 0;
        turn++;
        if (write(gates[gate][1], bytes, P - 1) != P - 1)
            abort();
    } else if (read(gates[gate][0], bytes, 1) != 1) {
        abort();
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
    for (int g = 0; g < 2; g++)
        if (pipe(gates[g]) != 0)
            abort();
    team(run);
    return answer();
}
