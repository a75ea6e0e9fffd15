/* As mailboxes_cond, but the boxes are flags that threads wait for by std::atomic.
 *
 * EXPECT instances=20 rows=4 cause=branch least=4 */
#include "idiom.h"
#include <atomic>
#include <thread>

enum { ROUNDS = 20, DEAR = 8, BOXES = 4 };

static uint64_t each; /* steps for a thread in a round, without the dear piece */

static struct alignas(64) Box {
    std::atomic<int> full{0};
} box[BOXES];

static void piece(int id, uint64_t steps)
{
    if (refine(id, steps) == 0) /* hardly ever */
        results[id].sum++;
}

static void share(int id, int round)
{
#ifdef FIXED
    piece(id, DEAR / 4 * each);
#else
    if ((id + round) % 4 == 3) /* PLANTED */
        piece(id, DEAR * each);
#endif
    results[id].sum += work(id + round, each);
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (BOXES * 3);
    std::thread threads[BOXES];
    for (int id = 0; id < BOXES; id++)
        threads[id] = std::thread([id] {
            for (int round = 0; round < ROUNDS; round++) {
                box[id].full.wait(0);
                share(id, round);
                box[id].full = 0;
                box[id].full.notify_one();
            }
        });
    for (int round = 0; round < ROUNDS; round++) {
        for (auto &b : box) {
            b.full = 1;
            b.full.notify_one();
        }
        for (auto &b : box)
            b.full.wait(1); /* SECTION */
    }
    for (auto &t : threads)
        t.join();
    return answer();
}
