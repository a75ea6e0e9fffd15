/* Each thread has a queue of its own, and takes from the others' when that is
 * empty; a counter of what is left ends them. The dear tasks are in one queue.
 *
 * EXPECT scheduled=self silent=yes */
#include "idiom.h"
#include <atomic>
#include <deque>
#include <mutex>

enum { EACH = 160, DEAR = 8 };

static uint64_t each; /* steps for a task */

struct Queue {
    std::mutex lock;
    std::deque<int> tasks;
};

static std::vector<Queue> *queues;
static std::atomic<int> left;

static uint64_t run_task(int task)
{
    uint64_t x = work(task, each);
    if (task >= P * EACH * 3 / 4)
        x = refine(x, DEAR * each);
    return x;
}

static int own(Queue &q)
{
    std::lock_guard guard(q.lock);
    if (q.tasks.empty())
        return -1;
    int task = q.tasks.back();
    q.tasks.pop_back();
    return task;
}

static void serve(int id)
{
    while (left > 0) {
        int task = own((*queues)[id]);
        for (int k = 1; task < 0 && k < P; k++) {
            Queue &other = (*queues)[(id + k) % P];
            std::lock_guard guard(other.lock);
            if (!other.tasks.empty()) {
                task = other.tasks.front();
                other.tasks.pop_front();
            }
        }
        if (task < 0) {
            std::this_thread::yield();
            continue;
        }
        results[id].sum += run_task(task);
        left--;
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / (P * EACH * 3);
    queues = new std::vector<Queue>(P);
    left = P * EACH;
    for (int i = 0; i < P * EACH; i++)
#ifdef FIXED
        (*queues)[i % P].tasks.push_back(i);
#else
        (*queues)[i / EACH].tasks.push_back(i);
#endif
    std::vector<std::thread> threads;
    for (int t = 0; t < P; t++)
        threads.emplace_back(serve, t);
    for (auto &t : threads)
        t.join(); /* SECTION */
    return answer();
}
