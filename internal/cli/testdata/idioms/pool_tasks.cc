/* A pool of threads with std::condition_variable and std::function: one task for
 * each worker, in its own box. The first thread does no work itself.
 *
 * EXPECT instances=20 rows=P cause=branch percent=10 */
#include "idiom.h"
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

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

class Pool {
    struct Box {
        std::mutex lock;
        std::condition_variable more;
        std::queue<std::function<void()>> tasks;
    };
    std::vector<Box> boxes;
    std::mutex lock;
    std::condition_variable done;
    int pending = 0;
    std::vector<std::thread> threads;

    void serve(Box &box)
    {
        for (;;) {
            std::unique_lock held(box.lock);
            box.more.wait(held, [&] { return !box.tasks.empty(); });
            auto task = std::move(box.tasks.front());
            box.tasks.pop();
            held.unlock();
            if (!task)
                return;
            task();
            std::lock_guard guard(lock);
            if (--pending == 0)
                done.notify_one();
        }
    }

public:
    explicit Pool(int n) : boxes(n)
    {
        for (auto &box : boxes)
            threads.emplace_back(&Pool::serve, this, std::ref(box));
    }
    ~Pool()
    {
        for (auto &box : boxes)
            give(box, {});
        for (auto &t : threads)
            t.join();
    }
    void give(Box &box, std::function<void()> task)
    {
        std::lock_guard guard(box.lock);
        box.tasks.push(std::move(task));
        box.more.notify_one();
    }
    void give(int worker, std::function<void()> task)
    {
        {
            std::lock_guard guard(lock);
            pending++;
        }
        give(boxes[worker], std::move(task));
    }
    void finish()
    {
        std::unique_lock held(lock);
        done.wait(held, [&] { return pending == 0; });
    }
};

int main(int argc, char **argv)
{
    prepare(argc, argv);
    Pool pool(P);
    for (int round = 0; round < ROUNDS; round++) {
        for (int t = 0; t < P; t++)
            pool.give(t, [=] { share(t, round); });
        pool.finish(); /* SECTION */
    }
    return answer();
}
