/* A pool of packaged tasks behind a std::condition_variable_any with a stop token.
 *
 * EXPECT instances=4 rows=P cause=branch */
#include "idiom.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
constexpr int ROUNDS = 4, EACH = 8;
static uint64_t each;

struct Pool {
    std::mutex m;
    std::condition_variable_any cv;
    std::vector<std::deque<std::packaged_task<void()>>> queues;
    std::vector<std::jthread> threads;
    explicit Pool(int n) : queues(n)
    {
        for (int i = 0; i < n; i++)
            threads.emplace_back([this, i](std::stop_token stop) { run(stop, i); });
    }
    void run(std::stop_token stop, int i)
    {
        for (;;) {
            std::packaged_task<void()> task;
            {
                std::unique_lock l(m);
                if (!cv.wait(l, stop, [&] { return !queues[i].empty(); }))
                    return;
                task = std::move(queues[i].front());
                queues[i].pop_front();
            }
            task();
        }
    }
    std::future<void> submit(int i, std::function<void()> f)
    {
        std::packaged_task<void()> task(f);
        auto fut = task.get_future();
        {
            std::lock_guard l(m);
            queues[i].push_back(std::move(task));
        }
        cv.notify_all();
        return fut;
    }
};

static void block(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, 8 * each);
        results[id].sum += x;
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
    Pool pool(P);
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<std::future<void>> all;
        for (int id = 0; id < P; id++)
            all.push_back(pool.submit(id, [id, round] { block(id, round); }));
        for (auto &f : all)
            f.wait(); /* SECTION */
    }
    return answer();
}
