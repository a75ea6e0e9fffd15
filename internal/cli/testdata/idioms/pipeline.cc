/* A pipeline: each stage takes from a bounded buffer and puts into the next. One
 * stage is dear. Its waits are as many in every stage, but nobody meets there:
 * the threads are joined at the end. FIXED spreads the dear step over the stages.
 *
 * EXPECT instances=1 rows=P kind=join cause=branch wait=condition */
#include "idiom.h"
#include <condition_variable>
#include <mutex>
#include <queue>

enum { ITEMS = 40, DEPTH = 4 };

static uint64_t each;

class Buffer {
    std::mutex lock;
    std::condition_variable more, room;
    std::queue<int> items;

public:
    void put(int i)
    {
        std::unique_lock held(lock);
        room.wait(held, [&] { return items.size() < DEPTH; }); /* WAIT */
        items.push(i);
        more.notify_one();
    }
    int take()
    {
        std::unique_lock held(lock);
        more.wait(held, [&] { return !items.empty(); }); /* WAIT */
        int i = items.front();
        items.pop();
        room.notify_one();
        return i;
    }
};

static uint64_t dear_step(int item, int part)
{
    return work(item * 1000 + part, 3 * each);
}

static uint64_t process(int stage, int item)
{
    uint64_t x = work(item * 1000 + stage, each);
#ifdef FIXED
    x += dear_step(item, stage);
#else
    if (stage == P / 2) /* PLANTED */
        for (int part = 0; part < P; part++)
            x += dear_step(item, part);
#endif
    return x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ITEMS / (4 * P);
    std::vector<Buffer> between(P - 1);
    std::vector<std::thread> stages;
    for (int t = 0; t < P; t++)
        stages.emplace_back([&, t] {
            for (int n = 0; n < ITEMS; n++) {
                int item = t > 0 ? between[t - 1].take() : n;
                results[t].sum += process(t, item);
                if (t < P - 1)
                    between[t].put(item);
            }
        });
    for (auto &s : stages)
        s.join(); /* SECTION */
    return answer();
}
