/* A barrier on a futex, called by an instruction of its own.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=loop */
#include "idiom.h"
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

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

static inline long futex(_Atomic int *word, long operation, long value)
{
    long result;
    register void *none __asm__("r10") = NULL; /* no time to give up at */
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_futex), "D"(word), "S"(operation), "d"(value), "r"(none)
                     : "rcx", "r11", "memory");
    return result;
}

static _Atomic int here, turn;

static void meet(void)
{
    int mine = turn;
    if (atomic_fetch_add(&here, 1) + 1 == P) {
        here = 0;
        turn++;
        futex(&turn, FUTEX_WAKE_PRIVATE, INT_MAX);
    } else {
        while (turn == mine)
            futex(&turn, FUTEX_WAIT_PRIVATE, mine);
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
