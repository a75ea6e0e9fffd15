/* A pool of threads with a queue, each task of which has a future, and a semaphore that
 * counts them, of the language's own: the program itself asks the system to wake
 * somebody, if anybody waits. One task in each round is huge; FIXED has it in pieces,
 * one beside each of the others.
 *
 * EXPECT least=4 instances=10 scheduled=self cause=branch gain=any percent=10 */
#include "idiom.h"
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <semaphore>

enum { ROUNDS = 10, EACH = 4 };

class Pool {
    std::mutex lock;
    std::counting_semaphore<> waiting{0};
    std::queue<std::function<void()>> tasks;
    std::vector<std::thread> threads;

    void serve()
    {
        for (;;) {
            waiting.acquire();
            std::function<void()> task;
            {
                std::lock_guard guard(lock);
                if (tasks.empty())
                    return;
                task = std::move(tasks.front());
                tasks.pop();
            }
            task();
        }
    }

public:
    explicit Pool(int n)
    {
        for (int t = 0; t < n; t++)
            threads.emplace_back(&Pool::serve, this);
    }
    ~Pool()
    {
        waiting.release(threads.size());
        for (auto &t : threads)
            t.join();
    }
    template <class F> auto submit(F f) -> std::future<decltype(f())>
    {
        auto task = std::make_shared<std::packaged_task<decltype(f())()>>(f);
        auto result = task->get_future();
        {
            std::lock_guard guard(lock);
            tasks.push([task] { (*task)(); });
        }
        waiting.release();
        return result;
    }
};

static uint64_t each;

static uint64_t run_task(int task)
{
    uint64_t x = work(task, each);
#ifdef FIXED
    x += work(task, each);
#else
    int tasks = P * EACH;
    if (task % tasks == 0) /* PLANTED */
        for (int other = task; other < task + tasks; other++)
            x += work(other, each);
#endif
    return x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (2 * P * EACH);
    Pool pool(P);
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<std::future<uint64_t>> all;
        for (int i = 0; i < P * EACH; i++)
            all.push_back(pool.submit([=] { return run_task(round * P * EACH + i); }));
        for (auto &f : all)
            results[0].sum += f.get(); /* SECTION */
    }
    return answer();
}
