/* Some items throw, and what handles it is dear; threads meet at a barrier of pthreads.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

static uint64_t each;

struct Malformed {
    uint64_t so_far;
};

static uint64_t parse(int round, int i)
{
    uint64_t x = work(round * 1000 + i, each);
    if (i >= P * EACH * 3 / 4) /* PLANTED */
        throw Malformed{x};
    return x;
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        try {
            results[id].sum += parse(round, dealt(id, k, EACH));
        } catch (const Malformed &m) {
            results[id].sum += refine(m.so_far, DEAR * each);
        }
    }
}

static pthread_barrier_t meet;

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
    pthread_barrier_init(&meet, NULL, P);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            share(id, round);
            pthread_barrier_wait(&meet); /* SECTION */
        }
    });
    return answer();
}
