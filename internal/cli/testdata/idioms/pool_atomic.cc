/* A pool that is done when a std::atomic has come to nothing: who waits for that is
 * woken by the last, and looks again. Another quarter of the threads has more to do in
 * each round.
 *
 * EXPECT instances=12 rows=P cause=branch */
#include "idiom.h"
#include <atomic>

enum { ROUNDS = 12, EACH = 8, DEAR = 8 };

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
        if ((i + round * P * EACH / 4) % (P * EACH) >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::atomic<int> round = 0, missing = 0;
    std::vector<std::thread> threads;
    for (int id = 0; id < P; id++)
        threads.emplace_back([&, id] {
            for (int r = 0; r < ROUNDS; r++) {
                round.wait(r);
                share(id, r);
                if (missing.fetch_sub(1) == 1)
                    missing.notify_one();
            }
        });
    for (int r = 1; r <= ROUNDS; r++) {
        missing = P;
        round = r;
        round.notify_all();
        for (int n; (n = missing.load()) != 0;)
            missing.wait(n); /* SECTION */
    }
    for (auto &t : threads)
        t.join();
    return answer();
}
