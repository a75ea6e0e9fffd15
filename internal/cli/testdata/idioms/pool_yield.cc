/* A pool whose threads yield until there is work, and look for it themselves once
 * more when they have done theirs; another flag ends them.
 *
 * EXPECT instances=20 rows=P kind=join cause=branch */
#include "idiom.h"
#include <atomic>

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

static std::atomic<int> job{0}, left{0};
static std::atomic<bool> ending{false};

static void serve(int id)
{
    for (int seen = 0;;) {
        while (job.load(std::memory_order_acquire) == seen) {
            if (ending)
                return;
            std::this_thread::yield();
        }
        share(id, seen++);
        left.fetch_sub(1, std::memory_order_release);
    }
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::vector<std::thread> threads;
    for (int t = 0; t < P; t++)
        threads.emplace_back(serve, t);
    for (int round = 0; round < ROUNDS; round++) {
        left = P;
        job.fetch_add(1);
        while (left.load(std::memory_order_acquire) > 0)
            std::this_thread::yield(); /* SECTION */
    }
    ending = true;
    for (auto &t : threads)
        t.join();
    return answer();
}
