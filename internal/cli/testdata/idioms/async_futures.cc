/* std::async for each share of a round, and the futures' get.
 *
 * EXPECT instances=5 rows=P kind=join cause=branch */
#include "idiom.h"
#include <future>

enum { ROUNDS = 5, EACH = 8, DEAR = 8 };

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
        std::vector<std::future<void>> shares;
        for (int t = 0; t < P; t++)
            shares.push_back(std::async(std::launch::async, share, t, round));
        for (auto &s : shares)
            s.get(); /* SECTION */
    }
    return answer();
}
