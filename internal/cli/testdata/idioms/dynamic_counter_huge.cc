/* An atomic counter deals the tasks, whoever comes first. One task is huge;
 * FIXED has it in pieces, one beside each of the others.
 *
 * EXPECT scheduled=self instances=10 rows=P kind=barrier cause=branch|loop gain=any */
#include "idiom.h"
#include <atomic>
#include <barrier>

enum { ROUNDS = 10, TASKS = 128, HUGE = 2 * TASKS };

static uint64_t each;

static uint64_t run_task(int task)
{
    uint64_t x = work(task, each);
#ifdef FIXED
    x += work(task, HUGE / TASKS * each);
#else
    if (task % TASKS == TASKS / 2) /* PLANTED */
        for (int other = task - TASKS / 2; other < task + TASKS / 2; other++)
            x += work(other, HUGE / TASKS * each);
#endif
    return x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (TASKS + HUGE);
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
