/* A pool of threads with one queue of thousands of small tasks a round: whoever is
 * free takes the next one, mostly without a wait, and the first thread waits for them all.
 *
 * EXPECT instances=10 silent=yes scheduled=self */
#include "idiom.h"
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>

static std::atomic<uint64_t> check;

enum { ROUNDS = 10, EACH = 1500 };

class Pool {
    std::mutex lock;
    std::condition_variable more, all;
    std::queue<std::function<void()>> tasks;
    size_t running = 0;
    bool waiting = false, working = true;
    std::vector<std::thread> threads;

    void serve()
    {
        for (std::unique_lock held(lock);;) {
            --running;
            if (waiting && running == 0 && tasks.empty())
                all.notify_all();
            more.wait(held, [this] { return !tasks.empty() || !working; });
            if (!working)
                return;
            {
                auto task = std::move(tasks.front());
                tasks.pop();
                ++running;
                held.unlock();
                task();
            }
            held.lock();
        }
    }

public:
    explicit Pool(int n) : running(n)
    {
        for (int t = 0; t < n; t++)
            threads.emplace_back(&Pool::serve, this);
    }
    ~Pool()
    {
        {
            std::lock_guard guard(lock);
            working = false;
        }
        more.notify_all();
        for (auto &t : threads)
            t.join();
    }
    void submit(std::function<void()> task)
    {
        {
            std::lock_guard guard(lock);
            tasks.push(std::move(task));
        }
        more.notify_one();
    }
    void wait()
    {
        std::unique_lock held(lock);
        waiting = true;
        all.wait(held, [this] { return running == 0 && tasks.empty(); });
        waiting = false;
    }
};

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / EACH;
    Pool pool(P);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < EACH; i++)
            pool.submit([=] { check += work(round * 1000 + i, each); });
        pool.wait(); /* SECTION */
    }
    results[0].sum = check;
    return answer();
}
