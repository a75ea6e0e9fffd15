/* One thread sleeps in each round, by std::this_thread::sleep_for, beside the work
 * that is the same for all.
 *
 * EXPECT silent=yes wait=sleep instances=5 rows=P */
#include "idiom.h"
#include <barrier>
#include <chrono>

enum { ROUNDS = 5 };

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / P;
    std::barrier meet(P);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            results[id].sum += work(round * 1000 + id, each);
#ifndef FIXED
            if (id == 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(4)); /* WAIT */
#endif
            meet.arrive_and_wait(); /* SECTION */
        }
    });
    return answer();
}
