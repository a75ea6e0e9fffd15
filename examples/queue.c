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

static uint64_t sizes[MAX_THREADS][TASKS + 1]; /* in steps, by thread */

/* fill makes the lists: equal tasks for all, and the huge one. */
static void fill(void)
{
    uint64_t unit = budget / ROUNDS / ((TASKS + 1) * P + HUGE);
    for (int t = 0; t < P; t++) {
        for (int task = 0; task < TASKS; task++)
            sizes[t][task] = unit;
#ifdef FIXED
        sizes[t][TASKS] = unit + unit * HUGE / P;
#else
        sizes[t][TASKS] = t == P / 2 ? unit + unit * HUGE : unit;
#endif
    }
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
            uint64_t steps = sizes[me->id][task];
            sink = run((round * 1000 + me->id) * 1000 + task, steps);
            me->result += steps;
        }
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    budget -= budget % ((uint64_t)ROUNDS * ((TASKS + 1) * P + HUGE) * P); /* so that cutting leaves no rest */
    fill();
    pthread_barrier_init(&meet, NULL, P);
    together(serve);
    return answer();
}
