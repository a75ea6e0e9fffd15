/* The first thread runs what the others do, beside them: the compiler may put a copy of
 * it into main, and the barrier with it, which lies in main's own frame.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <barrier>
#include <thread>
#include <vector>

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / (P * EACH * 3);
    std::barrier meet(P);
    auto run = [&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            for (int k = 0; k < EACH; k++) {
                int i = dealt(id, k, EACH);
                uint64_t x = work(round * 1000 + i, each);
                if (i >= P * EACH * 3 / 4) /* PLANTED */
                    x = refine(x, DEAR * each);
                results[id].sum += x;
            }
            meet.arrive_and_wait(); /* SECTION */
        }
    };
    std::vector<std::thread> others;
    for (int id = 1; id < P; id++)
        others.emplace_back(run, id);
    run(0);
    for (auto &t : others)
        t.join();
    return answer();
}
