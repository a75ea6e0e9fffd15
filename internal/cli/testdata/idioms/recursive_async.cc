/* Fork and join by recursion: each half of the shares is a std::async, down to one
 * share.
 *
 * EXPECT kind=join cause=loop */
#include "idiom.h"
#include <future>

enum { ROUNDS = 4, EACH = 4 };

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

static uint64_t solve(int first, int n, int round)
{
    if (n == 1) {
        share(first, round);
        return 1;
    }
    auto left = std::async(std::launch::async, solve, first, n / 2, round);
    uint64_t right = solve(first + n / 2, n - n / 2, round);
    return right + left.get(); /* SECTION */
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int round = 0; round < ROUNDS; round++)
        if (solve(0, P, round) != (uint64_t)P)
            abort();
    return answer();
}
