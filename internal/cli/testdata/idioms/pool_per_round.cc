/* A pool of threads that lives for one round: its constructor creates them, wait waits until
 * all tasks are done, and its destructor joins them. What they did is of their join, and of
 * no round of a pool, too.
 *
 * EXPECT instances=12 rows=P kind=join cause=branch */
#include "idiom.h"
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>

enum { ROUNDS = 12, EACH = 8, DEAR = 8 };

static uint64_t each; // steps for an item

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
        std::condition_variable filled;
        std::function<void()> job;
        bool closed = false;
    };
    std::vector<std::unique_ptr<Box>> boxes;
    std::vector<std::thread> threads;
    std::mutex lock;
    std::condition_variable done;
    int pending = 0;

    void serve(Box &box)
    {
        std::unique_lock<std::mutex> hold(box.lock);
        for (;;) {
            box.filled.wait(hold, [&] { return box.job || box.closed; });
            if (!box.job)
                return;
            auto job = std::move(box.job);
            box.job = nullptr;
            job();
            std::lock_guard<std::mutex> finished(lock);
            if (--pending == 0)
                done.notify_all();
        }
    }

public:
    explicit Pool(int n)
    {
        for (int t = 0; t < n; t++)
            boxes.push_back(std::make_unique<Box>());
        for (auto &box : boxes)
            threads.emplace_back([this, &box] { serve(*box); });
    }

    void submit(int worker, std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            pending++;
        }
        std::lock_guard<std::mutex> hold(boxes[worker]->lock);
        boxes[worker]->job = std::move(job);
        boxes[worker]->filled.notify_one();
    }

    void wait()
    {
        std::unique_lock<std::mutex> hold(lock);
        done.wait(hold, [&] { return pending == 0; });
    }

    ~Pool()
    {
        for (auto &box : boxes) {
            std::lock_guard<std::mutex> hold(box->lock);
            box->closed = true;
            box->filled.notify_one();
        }
        for (auto &thread : threads)
            thread.join(); /* SECTION */
    }
};

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
    for (int round = 0; round < ROUNDS; round++) {
        Pool pool(P);
        for (int id = 0; id < P; id++)
            pool.submit(id, [=] { share(id, round); });
        pool.wait();
    }
    return answer();
}
