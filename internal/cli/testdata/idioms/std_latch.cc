/* A std::latch for each round.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=loop */
#include "idiom.h"
#include <deque>
#include <latch>

enum { ROUNDS = 20, EACH = 4 };

static uint64_t each; /* steps for an element of the triangle */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS * 2 / (P * EACH * (P * EACH + 1));
}

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
    prepare(argc, argv);
    std::deque<std::latch> meet;
    for (int round = 0; round < ROUNDS; round++)
        meet.emplace_back(P);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            share(id, round);
            meet[round].arrive_and_wait(); /* SECTION */
        }
    });
    return answer();
}
