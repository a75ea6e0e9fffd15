/* A thread that writes the log beside those that work, for the whole of the
 * run: it was created before them, and nobody joins it.
 *
 * EXPECT instances=5 rows=P kind=join cause=branch */
#include "idiom.h"
#include <atomic>
#include <chrono>

enum { ROUNDS = 5, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */
static std::atomic<int> rounds, said;

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

static void write_log()
{
    for (;;) {
        said = rounds.load();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::thread(write_log).detach();
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<std::thread> threads;
        for (int t = 0; t < P; t++)
            threads.emplace_back(share, t, round);
        for (auto &t : threads)
            t.join(); /* SECTION */
        rounds++;
    }
    return answer();
}
