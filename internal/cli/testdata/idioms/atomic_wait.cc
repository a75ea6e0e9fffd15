/* A barrier of std::atomic::wait and notify_all.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
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

static std::atomic<int> here, turn;

static void meet()
{
    int mine = turn;
    if (here.fetch_add(1) + 1 == P) {
        here = 0;
        turn.fetch_add(1);
        turn.notify_all();
    } else {
        turn.wait(mine);
    }
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            share(id, round);
            meet(); /* SECTION */
        }
    });
    return answer();
}
