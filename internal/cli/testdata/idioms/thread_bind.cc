/* New threads in every round, each a std::bind.
 *
 * EXPECT instances=5 rows=P kind=join cause=branch */
#include "idiom.h"
#include <functional>

enum { ROUNDS = 5, PIECES = 4 };

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

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<std::thread> threads;
        for (int t = 0; t < P; t++)
            threads.emplace_back(std::bind(share, t, std::placeholders::_1), round);
        for (auto &t : threads)
            t.join(); /* SECTION */
    }
    return answer();
}
