/* Threads that nobody joins: the first thread waits for them by a latch.
 *
 * EXPECT instances=20 rows=P kind=join cause=branch */
#include "idiom.h"
#include <latch>

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
    for (int round = 0; round < ROUNDS; round++) {
        std::latch done(P);
        for (int t = 0; t < P; t++)
            std::thread([&, t] {
                share(t, round);
                done.count_down();
            }).detach();
        done.wait(); /* SECTION */
    }
    return answer();
}
