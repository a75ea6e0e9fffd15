/* Some items throw from deep below: through a function that cleans up, past a
 * handler of something else, to one that is dear. Others throw what is handled
 * cheaply, in all threads.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <stdexcept>
#include <string>

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

static uint64_t each;

struct Malformed {
    uint64_t so_far;
};

struct Cleanup {
    uint64_t &count;
    __attribute__((noinline)) ~Cleanup() { count++; }
};

__attribute__((noinline)) static uint64_t check(uint64_t x, int i)
{
    if (i >= P * EACH * 3 / 4) /* PLANTED */
        throw Malformed{x};
    return x;
}

__attribute__((noinline)) static uint64_t parse(int round, int i, uint64_t &count)
{
    Cleanup c{count};
    return check(work(round * 1000 + i, each), i) + count % 2 * 0;
}

__attribute__((noinline)) static uint64_t guarded(int round, int i, uint64_t &count)
{
    try {
        if (i % EACH == 0)
            (void)std::stoi(count > 1000000 ? "7" : "none");
    } catch (const std::invalid_argument &) {
        count += 2;
    }
    try {
        return parse(round, i, count);
    } catch (const std::length_error &) {
        return 1;
    }
}

static void share(int id, int round)
{
    uint64_t count = 0;
    for (int k = 0; k < EACH; k++) {
        try {
            results[id].sum += guarded(round, dealt(id, k, EACH), count);
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
    team([](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            share(id, round);
            pthread_barrier_wait(&meet); /* SECTION */
        }
    });
    return answer();
}
