/* A barrier of the old style: volatile, and the __sync builtins.
 *
 * EXPECT instances=3 most=4 rows=P kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 3, PIECES = 4 };

static uint64_t each; /* steps for a piece of what is gathered */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (2 * PIECES * P);
}

static void gather(int id, int round, int first, int stride)
{
    for (int i = first; i < PIECES * P; i += stride)
        results[id].sum += work(round * 1000 + i, each);
}

static void share(int id, int round)
{
    results[id].sum += work(round * 777 + id, PIECES * each);
#ifdef FIXED
    gather(id, round, id, P);
#else
    if (id == 0) /* PLANTED */
        gather(id, round, 0, 1);
#endif
}

static volatile int here, turn;

static void meet(void)
{
    int mine = turn;
    if (__sync_add_and_fetch(&here, 1) == P) {
        here = 0;
        __sync_synchronize();
        turn = mine + 1;
    } else {
        while (turn == mine)
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
