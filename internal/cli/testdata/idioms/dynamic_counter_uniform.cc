/* An atomic counter deals the tasks, whoever comes first. All tasks cost
 * the same.
 *
 * EXPECT scheduled=self silent=yes */
#include "idiom.h"
#include <atomic>
#include <barrier>

enum { ROUNDS = 10, TASKS = 128 };

static uint64_t each;

static uint64_t run_task(int task)
{
    return work(task, each);
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (TASKS);
    std::atomic<int> next[ROUNDS] = {};
    std::barrier meet(P);
    team([&](int id) {
        for (int round = 0; round < ROUNDS; round++) {
            for (int task; (task = next[round].fetch_add(1)) < TASKS;)
                results[id].sum += run_task(round * TASKS + task);
            meet.arrive_and_wait(); /* SECTION */
        }
    });
    return answer();
}
