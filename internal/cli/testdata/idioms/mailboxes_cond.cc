/* Each thread has a box of its own, with a lock and a condition: it waits until it is full,
 * and who fills them until they are empty again, one by one: that loop the compiler may
 * write out. What sets the threads apart is the first that they do behind the wait.
 *
 * EXPECT instances=20 rows=4 cause=branch least=4 */
#include "idiom.h"
#include <condition_variable>
#include <mutex>
#include <thread>

enum { ROUNDS = 20, DEAR = 8, BOXES = 4 };

static uint64_t each; /* steps for a thread in a round, without the dear piece */

static struct Box {
    std::mutex m;
    std::condition_variable c;
    bool full = false;

    void put(bool f)
    {
        {
            std::lock_guard l(m);
            full = f;
        }
        c.notify_all();
    }
    void await(bool f)
    {
        std::unique_lock l(m);
        c.wait(l, [&] { return full == f; });
    }
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
                box[id].await(true);
                share(id, round);
                box[id].put(false);
            }
        });
    for (int round = 0; round < ROUNDS; round++) {
        for (auto &b : box)
            b.put(true);
        for (auto &b : box)
            b.await(false); /* SECTION */
    }
    for (auto &t : threads)
        t.join();
    return answer();
}
