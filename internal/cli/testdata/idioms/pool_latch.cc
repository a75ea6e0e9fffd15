/* A pool of threads that waits for its next job on an atomic, and counts a
 * std::latch down when it is done. The first thread does no work itself.
 *
 * EXPECT instances=20 rows=P cause=branch */
#include "idiom.h"
#include <atomic>
#include <deque>
#include <latch>

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

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::atomic<int> job = 0;
    std::deque<std::latch> done;
    for (int round = 0; round < ROUNDS; round++)
        done.emplace_back(P);
    std::vector<std::thread> threads;
    for (int t = 0; t < P; t++)
        threads.emplace_back([&, t] {
            for (int round = 0; round < ROUNDS; round++) {
                for (int now; (now = job.load()) <= round;)
                    job.wait(now);
                share(t, round);
                done[round].count_down();
            }
        });
    for (int round = 0; round < ROUNDS; round++) {
        job = round + 1;
        job.notify_all();
        done[round].wait(); /* SECTION */
    }
    for (auto &t : threads)
        t.join();
    return answer();
}
