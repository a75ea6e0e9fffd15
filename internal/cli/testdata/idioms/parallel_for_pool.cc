/* One helper that hands a body to a pool of threads and waits for it, called from
 * two places: at one of them the work is dealt badly.
 *
 * EXPECT instances=10 rows=P cause=branch */
#include "idiom.h"
#include <condition_variable>
#include <functional>
#include <mutex>

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

static void even(int id, int round)
{
    results[id].sum += work(round * 555 + id, EACH * each);
}

static std::mutex lock;
static std::condition_variable go, done;
static std::function<void(int)> job;
static int jobs, pending;

static void serve(int id)
{
    for (int next = 1; next <= 2 * ROUNDS; next++) {
        std::unique_lock held(lock);
        go.wait(held, [=] { return jobs >= next; });
        held.unlock();
        job(id);
        held.lock();
        if (--pending == 0)
            done.notify_one();
    }
}

static void parallel_for(std::function<void(int)> body)
{
    std::unique_lock held(lock);
    job = std::move(body);
    jobs++;
    pending = P;
    go.notify_all();
    done.wait(held, [] { return pending == 0; });
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    std::vector<std::thread> threads;
    for (int t = 0; t < P; t++)
        threads.emplace_back(serve, t);
    for (int round = 0; round < ROUNDS; round++) {
        parallel_for([=](int id) { even(id, round); });  /* BALANCED */
        parallel_for([=](int id) { share(id, round); }); /* SECTION */
    }
    for (auto &t : threads)
        t.join();
    return answer();
}
