/* A pool of threads with std::counting_semaphore: the first thread releases the
 * workers and acquires as often as they are.
 *
 * EXPECT instances=20 rows=P cause=loop */
#include "idiom.h"
#include <deque>
#include <semaphore>

enum { ROUNDS = 20, EACH = 4 };

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
    std::deque<std::counting_semaphore<>> go;
    std::counting_semaphore<> done{0};
    for (int t = 0; t < P; t++)
        go.emplace_back(0);
    std::vector<std::thread> threads;
    for (int t = 0; t < P; t++)
        threads.emplace_back([&, t] {
            for (int round = 0; round < ROUNDS; round++) {
                go[t].acquire();
                share(t, round);
                done.release();
            }
        });
    for (int round = 0; round < ROUNDS; round++) {
        for (auto &g : go)
            g.release();
        for (int t = 0; t < P; t++)
            done.acquire(); /* SECTION */
    }
    for (auto &t : threads)
        t.join();
    return answer();
}
