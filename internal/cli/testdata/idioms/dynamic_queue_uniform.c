/* A queue under a mutex deals the tasks, whoever comes first. All tasks cost
 * the same.
 *
 * EXPECT scheduled=self silent=yes */
#include "idiom.h"

enum { ROUNDS = 10, TASKS = 128 };

static uint64_t each;
static pthread_barrier_t meet;

static struct task {
    struct task *next;
    int number;
} tasks[ROUNDS][TASKS], *queue[ROUNDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fill(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int n = TASKS - 1; n >= 0; n--) {
            struct task *t = &tasks[round][n];
            t->number = round * TASKS + n;
            t->next = queue[round];
            queue[round] = t;
        }
}

static struct task *take(int round)
{
    pthread_mutex_lock(&lock);
    struct task *t = queue[round];
    if (t != NULL)
        queue[round] = t->next;
    pthread_mutex_unlock(&lock);
    return t;
}

static uint64_t run_task(int task)
{
    return work(task, each);
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        for (struct task *t; (t = take(round)) != NULL;)
            results[id].sum += run_task(t->number);
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (TASKS);
    fill();
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
