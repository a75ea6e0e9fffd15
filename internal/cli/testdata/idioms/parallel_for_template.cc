/* One template that starts threads and joins them, and takes part itself, called
 * from two places: at one of them the work is dealt badly.
 *
 * EXPECT instances=5 rows=P kind=join cause=branch */
#include "idiom.h"

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

static void even(int id, int round)
{
    results[id].sum += work(round * 555 + id, EACH * each);
}

template <class Body> static void parallel_for(int n, Body body)
{
    std::vector<std::thread> threads;
    for (int t = 1; t < n; t++)
        threads.emplace_back(body, t);
    body(0);
    for (auto &t : threads)
        t.join();
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int round = 0; round < ROUNDS; round++) {
        parallel_for(P, [=](int id) { even(id, round); });  /* BALANCED */
        parallel_for(P, [=](int id) { share(id, round); }); /* SECTION */
    }
    return answer();
}
