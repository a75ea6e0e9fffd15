/* A pool of threads with one queue of tasks, each with a future: the first thread
 * waits for all of them before it hands out more. One task in each round is huge;
 * FIXED has it in pieces, one beside each of the others.
 *
 * EXPECT least=4 instances=10 rows=P scheduled=self cause=branch gain=any percent=10 */
#include "idiom.h"
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>

enum { ROUNDS = 10, EACH = 4 };

class Pool {
    std::mutex lock;
    std::condition_variable more;
    std::queue<std::function<void()>> tasks;
    bool ending = false;
    std::vector<std::thread> threads;

    void serve()
    {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock held(lock);
                more.wait(held, [this] { return ending || !tasks.empty(); });
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
        {
            std::lock_guard guard(lock);
            ending = true;
        }
        more.notify_all();
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
        more.notify_one();
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
