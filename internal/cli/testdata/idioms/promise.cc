/* A std::promise is kept by each of the threads, which go on living; the first
 * thread waits for the futures of a round before it makes the next.
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

static void fulfil(int id, int round, std::promise<int> promise)
{
    share(id, round);
    promise.set_value(id);
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::vector<std::thread> threads;
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<std::future<int>> shares;
        for (int t = 0; t < P; t++) {
            std::promise<int> promise;
            shares.push_back(promise.get_future());
            threads.emplace_back(fulfil, t, round, std::move(promise));
        }
        for (int t = 0; t < P; t++)
            if (shares[t].get() != t) /* SECTION */
                abort();
    }
    for (auto &t : threads)
        t.join();
    return answer();
}
