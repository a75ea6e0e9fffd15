/* std::barrier of C++20 in a program that is built for gprof.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch flags=-pg */
#include "idiom.h"
#include <barrier>

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

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::barrier meet(P);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            share(id, round);
            meet.arrive_and_wait(); /* SECTION */
        }
    });
    return answer();
}
