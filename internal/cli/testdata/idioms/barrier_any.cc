/* A barrier of a condition that goes with any lock, and has one of its own within that.
 * Another quarter of the threads has more to do in each round.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <condition_variable>
#include <shared_mutex>

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

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

static std::shared_mutex lock;
static std::condition_variable_any all_here;
static int here;
static unsigned turn;

static inline void meet()
{
    std::unique_lock held(lock);
    unsigned mine = turn;
    if (++here == P) {
        here = 0;
        turn++;
        all_here.notify_all();
    } else {
        all_here.wait(held, [&] { return turn != mine; });
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
