/* Each thread has a list of tasks, the same number for all, but one task is
 * huge. The loop over a task's steps is a single basic block, so all that
 * tells the threads apart is how often it repeats.
 *
 * FIXED cuts the huge task in pieces, one for each thread. Cutting a chain of
 * steps changes what it computes, so the checksum is over the steps taken. */
#include "example.h"

enum { ROUNDS = 3, TASKS = 16, HUGE = 16 * TASKS };

static pthread_barrier_t meet;
static volatile uint64_t sink;

static uint64_t size_of_task(int id, int task)
{
    uint64_t unit = budget / ROUNDS / (TASKS * P + HUGE);
    if (task < TASKS)
        return unit;
#ifdef FIXED
    (void)id;
    return unit * HUGE / P;
#else
    return id == P / 2 ? unit * HUGE : 1;
#endif
}

static uint64_t run(uint64_t x, uint64_t steps)
{
    x |= 1;
    for (uint64_t n = 0; n < steps; n++) /* PLANTED */
        x = step(x);
    return x;
}

static void *serve(void *arg)
{
    struct worker *me = arg;

    for (int round = 0; round < ROUNDS; round++) {
        for (int task = 0; task <= TASKS; task++) {
            uint64_t steps = size_of_task(me->id, task);
            sink = run((round * 1000 + me->id) * 1000 + task, steps);
            me->result += steps > 1 ? steps : 0;
        }
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    budget -= budget % ((uint64_t)ROUNDS * (TASKS * P + HUGE) * P); /* so that cutting leaves no rest */
    pthread_barrier_init(&meet, NULL, P);
    together(serve);
    return answer();
}
