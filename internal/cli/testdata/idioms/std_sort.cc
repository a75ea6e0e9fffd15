/* The work is done in functions of the language's library, some of them not
 * inlined: who sorts the long tables does more of it.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=loop|recursion|branch gain=any */
#include "idiom.h"

#include <algorithm>
#include <barrier>

enum { ROUNDS = 10, EACH = 4, LONGER = 8 };

static size_t shortest;

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = (uint64_t)round;
        std::vector<uint64_t> table(i >= P * EACH * 3 / 4 ? LONGER * shortest : shortest); /* PLANTED */
        for (auto &v : table) /* PLANTED */
            v = x = step(x + 1);
        std::sort(table.begin(), table.end()); /* PLANTED */
        results[id].sum += table[table.size() / 2];
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    shortest = budget / ROUNDS / (uint64_t)(P * EACH * 150) + 30;
    std::barrier meet(P);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            share(id, round);
            meet.arrive_and_wait(); /* SECTION */
        }
    });
    return answer();
}
