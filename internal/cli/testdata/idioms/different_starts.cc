/* std::threads of two kinds: some decode, some draw, and drawing takes three times
 * as long. FIXED has one kind that does both.
 *
 * EXPECT instances=5 rows=P kind=join cause=start */
#include "idiom.h"

enum { ROUNDS = 5, PIECES = 4 };

static uint64_t each;

#ifdef FIXED
static void both(int id, int round)
{
    for (int i = id; i < P / 2 * PIECES; i += P)
        results[id].sum += work(round * 1000 + i, each);
    for (int i = id; i < P / 2 * PIECES; i += P)
        results[id].sum += work(round * 2000 + i, 3 * each);
}
#else
static void decode(int id, int round)
{
    for (int i = 0; i < PIECES; i++)
        results[id].sum += work(round * 1000 + id * PIECES + i, each);
}

static void draw(int id, int round) { /* PLANTED */
    for (int i = 0; i < PIECES; i++)
        results[id].sum += work(round * 2000 + (id - P / 2) * PIECES + i, 3 * each);
}
#endif

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P / 2 * PIECES * 4);
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<std::thread> threads;
        for (int t = 0; t < P; t++)
#ifdef FIXED
            threads.emplace_back(both, t, round);
#else
            if (t < P / 2)
                threads.emplace_back(decode, t, round);
            else
                threads.emplace_back(draw, t, round);
#endif
        for (auto &t : threads)
            t.join(); /* SECTION */
    }
    return answer();
}
