/* A pool in whose rounds threads wait for rows that others have yet to finish, as decoders
 * of video do: a helper that locks, looks and seldom waits, hundreds of times a round.
 *
 * EXPECT instances=20 rows=P cause=branch */
#include "idiom.h"

enum { ROUNDS = 20, EACH = 8, DEAR = 8, ROWS = 400 };

static uint64_t each; /* steps for an item */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int rows;
} done_by[MAX_THREADS];

static void finish_row(int id)
{
    pthread_mutex_lock(&done_by[id].lock);
    done_by[id].rows++;
    pthread_cond_broadcast(&done_by[id].more);
    pthread_mutex_unlock(&done_by[id].lock);
}

/* wait_for_row waits until a thread has finished so many rows. */
__attribute__((noinline)) static void wait_for_row(int id, int rows)
{
    pthread_mutex_lock(&done_by[id].lock);
    while (done_by[id].rows < rows)
        pthread_cond_wait(&done_by[id].more, &done_by[id].lock);
    pthread_mutex_unlock(&done_by[id].lock);
}

static void share(int id, int round)
{
    for (int r = 0; r < ROWS; r++) { /* each needs those of the round before */
        wait_for_row((id + r) % P, (round - 1) * ROWS);
        finish_row(id);
    }
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
    for (int t = 0; t < P; t++) {
        pthread_mutex_init(&done_by[t].lock, NULL);
        pthread_cond_init(&done_by[t].more, NULL);
    }
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
        pthread_join(handles[t], NULL);
    return answer();
}
