/* Fork and join by recursion: each half of the shares gets a std::thread, down to
 * one share.
 *
 * EXPECT kind=join cause=branch */
#include "idiom.h"

enum { ROUNDS = 4, EACH = 8, DEAR = 8 };

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

static void solve(int first, int n, int round)
{
    if (n == 1) {
        share(first, round);
        return;
    }
    std::thread left(solve, first, n / 2, round);
    solve(first + n / 2, n - n / 2, round);
    left.join(); /* SECTION */
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int round = 0; round < ROUNDS; round++)
        solve(0, P, round);
    return answer();
}
