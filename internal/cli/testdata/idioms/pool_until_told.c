/* A pool in the manner of C: threads look for a task in each round, until a flag says
 * that the pool is no more, and a task that another one has taken is none. One task is huge;
 * FIXED cuts it. How often a thread goes round is chance.
 *
 * EXPECT cores=P least=4 most=8 percent=10 instances=12 rows=P kind=join cause=branch gain=any */
#include "idiom.h"

enum { ROUNDS = 12, EACH = 16 };

static uint64_t each; /* steps for a task */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, counts = PTHREAD_MUTEX_INITIALIZER, flag = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static struct task { int i; struct task *next; } tasks[MAX_THREADS * EACH], *first;
static int length, working, raised;
static volatile int alive = 1;

static void piece(int i)
{
    uint64_t x = work(i, each);
#ifdef FIXED
    x += work(i, 2 * each);
#else
    if (i % (P * EACH) == P * EACH / 2) /* PLANTED */
        for (int k = 0; k < P * EACH; k++)
            x += work(i - P * EACH / 2 + k, 2 * each);
#endif
    __atomic_fetch_add(&results[0].sum, x, __ATOMIC_RELAXED);
}

static void raise_flag(int all)
{
    pthread_mutex_lock(&flag);
    raised = 1;
    if (all)
        pthread_cond_broadcast(&some);
    else
        pthread_cond_signal(&some);
    pthread_mutex_unlock(&flag);
}

static struct task *pull(void)
{
    pthread_mutex_lock(&lock);
    struct task *t = first;
    if (t) {
        first = t->next;
        if (--length > 0)
            raise_flag(0);
    }
    pthread_mutex_unlock(&lock);
    return t;
}

static void *serve(void *arg)
{
    while (alive) {
        pthread_mutex_lock(&flag);
        while (!raised)
            pthread_cond_wait(&some, &flag);
        raised = 0;
        pthread_mutex_unlock(&flag);
        if (!alive) {
            raise_flag(1);
            break;
        }
        pthread_mutex_lock(&counts);
        working++;
        pthread_mutex_unlock(&counts);
        struct task *t = pull();
        if (t)
            piece(t->i);
        pthread_mutex_lock(&counts);
        if (--working == 0)
            pthread_cond_signal(&idle);
        pthread_mutex_unlock(&counts);
    }
    return arg;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (3 * P * EACH);
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        for (int k = 0; k < P * EACH; k++) {
            tasks[k] = (struct task){round * P * EACH + k, first};
            first = &tasks[k];
            length++;
        }
        pthread_mutex_unlock(&lock);
        raise_flag(0);
        pthread_mutex_lock(&counts);
        while (length > 0 || working > 0)
            pthread_cond_wait(&idle, &counts); /* SECTION */
        pthread_mutex_unlock(&counts);
    }
    alive = 0;
    raise_flag(1);
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
