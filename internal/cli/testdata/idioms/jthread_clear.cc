/* std::jthread: the threads are joined by their destructors, where the vector is
 * emptied.
 *
 * EXPECT instances=5 rows=P kind=join cause=loop */
#include "idiom.h"

enum { ROUNDS = 5, EACH = 4 };

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
    std::vector<std::jthread> threads;
    for (int round = 0; round < ROUNDS; round++) {
        for (int t = 0; t < P; t++)
            threads.emplace_back(share, t, round);
        threads.clear(); /* SECTION */
    }
    return answer();
}
