/* One of the team asks for something by std::async while it works, in each round.
 *
 * EXPECT rows=P kind=barrier cause=loop */
#include "idiom.h"

#include <barrier>
#include <future>

enum { ROUNDS = 20, EACH = 4 };

static uint64_t each; /* steps for an element of the triangle */

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int row = dealt(id, k, EACH);
        uint64_t x = round;
        for (int c = 0; c <= row; c++) /* PLANTED */
            x = work(x + c, each);
        results[id].sum += x;
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS * 2 / (P * EACH * (P * EACH + 1));
    std::barrier barrier(P);
    uint64_t heard = 0;
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            std::future<uint64_t> answer;
            if (id == 1)
                answer = std::async(std::launch::async, refine, round, 10);
            share(id, round);
            if (id == 1)
                heard += answer.get();
            barrier.arrive_and_wait(); /* SECTION */
        }
    });
    return heard == 0 ? 1 : answer();
}
