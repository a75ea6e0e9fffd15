/* A pool of threads in a static program, whose C library is counted: where threads
 * wait for a lock looks as if they idled there. What they did in the last round is
 * of that round, and of their join no more.
 *
 * EXPECT instances=20 rows=P cause=branch static=yes */
#include "idiom.h"

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int job, pending;

static void *serve(void *arg)
{
    int id = number(arg);

    for (int next = 1; next <= ROUNDS; next++) {
        pthread_mutex_lock(&lock);
        while (job < next)
            pthread_cond_wait(&go, &lock);
        pthread_mutex_unlock(&lock);
        share(id, next);
        pthread_mutex_lock(&lock);
        if (--pending == 0)
            pthread_cond_signal(&done);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        pending = P;
        job++;
        pthread_cond_broadcast(&go);
        while (pending > 0)
            pthread_cond_wait(&done, &lock); /* SECTION */
        pthread_mutex_unlock(&lock);
    }
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL); /* SPENT */
    return answer();
}
