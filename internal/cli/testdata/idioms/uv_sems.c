/* A pool of threads by the semaphores of libuv, which do more than call the system's: each
 * thread waits for one of its own, the first one for one that all post.
 *
 * EXPECT lib=uv_sems.lib.c
 * EXPECT instances=20 rows=P kind=join cause=branch */
#include "idiom.h"
#include <semaphore.h>

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

typedef union { sem_t sem; void *own; } uv_sem_t;
extern int uv_sem_init(uv_sem_t *, unsigned);
extern void uv_sem_post(uv_sem_t *), uv_sem_wait(uv_sem_t *);

static uv_sem_t go[MAX_THREADS], done;

static void *serve(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        uv_sem_wait(&go[id]);
        share(id, round);
        uv_sem_post(&done);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    uv_sem_init(&done, 0);
    for (int t = 0; t < P; t++)
        uv_sem_init(&go[t], 0);
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 0; round < ROUNDS; round++) {
        for (int t = 0; t < P; t++)
            uv_sem_post(&go[t]);
        for (int t = 0; t < P; t++)
            uv_sem_wait(&done); /* SECTION */
    }
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
