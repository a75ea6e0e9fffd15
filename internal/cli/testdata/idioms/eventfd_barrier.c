/* An eventfd that counts as the gate of a barrier: read(2) blocks until the last
 * thread has come.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=loop */
#include "idiom.h"
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { ROUNDS = 20, EACH = 4 };

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

static int gates[2];
static _Atomic int here, turn;

static void meet(void)
{
    uint64_t n = P - 1;
    int gate = turn % 2;
    if (atomic_fetch_add(&here, 1) + 1 == P) {
        here = 0;
        turn++;
        if (write(gates[gate], &n, sizeof n) != sizeof n)
            abort();
    } else if (read(gates[gate], &n, sizeof n) != sizeof n) {
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
        gates[g] = eventfd(0, EFD_SEMAPHORE);
    team(run);
    return answer();
}
