/* Threads that end early: after half of the rounds every second thread drops out
 * of the std::barrier, and the others do its share too.
 *
 * EXPECT least=4 instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <barrier>

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

static uint64_t each;

static void share(int n, int id, int round, uint64_t &sum)
{
    int items = P * EACH;
    for (int k = 0; k < items / n; k++) {
        int i = dealt_among(n, id, k, items / n);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= items * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        sum += x;
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    P -= P % 2;
    each = budget / ROUNDS / (P * EACH * 3);
    std::barrier meet(P);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            if (round < ROUNDS / 2)
                share(P, id, round, results[id].sum);
            else
                share(P / 2, id / 2, round, results[id].sum);
            if (round == ROUNDS / 2 - 1 && id % 2 == 1) {
                meet.arrive_and_drop();
                return;
            }
            meet.arrive_and_wait(); /* SECTION */
        }
    });
    return answer();
}
