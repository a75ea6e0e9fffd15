/* A thread that waits for room in a queue has others work, but not in rounds.
 *
 * EXPECT silent=yes */
#include "idiom.h"
#include <condition_variable>
#include <mutex>
#include <queue>

enum { EACH = 40, ROOM = 4 };

static uint64_t each;
static std::mutex lock;
static std::condition_variable some, room;
static std::queue<int> items;

static int take()
{
    std::unique_lock held(lock);
    some.wait(held, [] { return !items.empty(); });
    int i = items.front();
    items.pop();
    room.notify_one();
    return i;
}

static void put(int i)
{
    std::unique_lock held(lock);
    room.wait(held, [] { return items.size() < ROOM; }); /* NONE */
    items.push(i);
    some.notify_one();
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / (P * EACH);
    std::vector<std::thread> threads;
    for (int t = 0; t < P; t++)
        threads.emplace_back([t] {
            for (int n = 0; n < EACH; n++)
                results[t].sum += work(take(), each);
        });
    for (int i = 0; i < P * EACH; i++)
        put(i); /* NONE */
    for (auto &t : threads)
        t.join(); /* SECTION */
    return answer();
}
