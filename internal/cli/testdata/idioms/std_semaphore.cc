/* A barrier of std::counting_semaphore: the last thread that comes lets the
 * others through.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <atomic>
#include <semaphore>

enum { ROUNDS = 20, PIECES = 4 };

static uint64_t each; /* steps for a piece of what is gathered */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (2 * PIECES * P);
}

static void gather(int id, int round, int first, int stride)
{
    for (int i = first; i < PIECES * P; i += stride)
        results[id].sum += work(round * 1000 + i, each);
}

static void share(int id, int round)
{
    results[id].sum += work(round * 777 + id, PIECES * each);
#ifdef FIXED
    gather(id, round, id, P);
#else
    if (id == 0) /* PLANTED */
        gather(id, round, 0, 1);
#endif
}

class Meeting {
    std::counting_semaphore<MAX_THREADS> gates[2]{std::counting_semaphore<MAX_THREADS>(0), std::counting_semaphore<MAX_THREADS>(0)};
    std::atomic<int> here = 0, turn = 0;

public:
    void wait()
    {
        int mine = turn;
        if (here.fetch_add(1) + 1 == P) {
            here = 0;
            turn = 1 - mine;
            gates[mine].release(P - 1);
        } else {
            gates[mine].acquire();
        }
    }
};

int main(int argc, char **argv)
{
    prepare(argc, argv);
    Meeting meet;
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            share(id, round);
            meet.wait(); /* SECTION */
        }
    });
    return answer();
}
