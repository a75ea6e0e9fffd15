/* A class around pthread_barrier_t, waited for at two places.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"

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
    pthread_barrier_t barrier;

public:
    explicit Meeting(int n) { pthread_barrier_init(&barrier, nullptr, n); }
    ~Meeting() { pthread_barrier_destroy(&barrier); }
    __attribute__((noinline)) void wait() { pthread_barrier_wait(&barrier); }
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
