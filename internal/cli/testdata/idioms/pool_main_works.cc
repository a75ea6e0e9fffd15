/* A pool of threads where the one that deals the work out takes a share of it
 * before it waits for the others.
 *
 * EXPECT instances=20 rows=P cause=loop */
#include "idiom.h"
#include <condition_variable>
#include <mutex>

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

static std::mutex lock;
static std::condition_variable go, done;
static int job, pending;

static void serve(int id)
{
    for (int next = 1; next <= ROUNDS; next++) {
        std::unique_lock held(lock);
        go.wait(held, [=] { return job >= next; });
        held.unlock();
        share(id, next);
        held.lock();
        if (--pending == 0)
            done.notify_one();
    }
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::vector<std::thread> threads;
    for (int t = 1; t < P; t++)
        threads.emplace_back(serve, t - 1);
    for (int round = 1; round <= ROUNDS; round++) {
        std::unique_lock held(lock);
        pending = P - 1;
        job = round;
        go.notify_all();
        held.unlock();
        share(P - 1, round);
        held.lock();
        done.wait(held, [] { return pending == 0; }); /* SECTION */
    }
    for (auto &t : threads)
        t.join();
    return answer();
}
