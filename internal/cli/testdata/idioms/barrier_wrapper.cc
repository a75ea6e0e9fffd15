/* A barrier of the user's own class, waited for at two places.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <condition_variable>
#include <mutex>

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
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

class Meeting {
    std::mutex lock;
    std::condition_variable all_here;
    int expected, here = 0;
    unsigned long turn = 0;

public:
    explicit Meeting(int n) : expected(n) {}
    __attribute__((noinline)) void wait()
    {
        std::unique_lock held(lock);
        auto mine = turn;
        if (++here == expected) {
            here = 0;
            turn++;
            all_here.notify_all();
        } else {
            all_here.wait(held, [&] { return turn != mine; });
        }
    }
};

int main(int argc, char **argv)
{
    prepare(argc, argv);
    Meeting meeting(P);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            results[id].sum += work(round * 555 + id, EACH * each);
            meeting.wait(); /* BALANCED */
            share(id, round);
            meeting.wait(); /* SECTION */
        }
    });
    return answer();
}
