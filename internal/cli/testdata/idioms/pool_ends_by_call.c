/* A pool of threads with a ring of tasks, whose threads end by pthread_exit. One task is
 * huge; FIXED cuts it. How many a thread takes is chance.
 *
 * EXPECT cores=P least=4 most=8 percent=10 instances=12 rows=P kind=join cause=branch gain=any */
#include "idiom.h"

enum { ROUNDS = 12, EACH = 16 };

static uint64_t each; /* steps for a task */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct task { void (*function)(int); int argument; } ring[MAX_THREADS * EACH];
static int head, tail, length, pending, ending;

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
    pthread_mutex_lock(&lock);
    results[0].sum += x;
    if (--pending == 0)
        pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
}

static void *serve(void *arg)
{
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (length == 0 && !ending)
            pthread_cond_wait(&some, &lock);
        if (ending)
            break;
        struct task t = ring[head];
        head = (head + 1) % (MAX_THREADS * EACH);
        length--;
        pthread_mutex_unlock(&lock);
        t.function(t.argument);
    }
    pthread_mutex_unlock(&lock);
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (3 * P * EACH);
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        pending = P * EACH;
        for (int k = 0; k < P * EACH; k++) {
            ring[tail] = (struct task){piece, round * P * EACH + k};
            tail = (tail + 1) % (MAX_THREADS * EACH);
            length++;
        }
        pthread_cond_broadcast(&some);
        while (pending > 0)
            pthread_cond_wait(&done, &lock); /* SECTION */
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    ending = 1;
    pthread_cond_broadcast(&some);
    pthread_mutex_unlock(&lock);
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
