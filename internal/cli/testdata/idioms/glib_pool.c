/* A pool of threads as in pool_cond.c, by the locks and conditions of GLib, which
 * are its own: nothing of them is a call of pthread's.
 *
 * EXPECT lib=glib_cond.lib.c
 * EXPECT instances=20 rows=P cause=branch */
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

typedef struct { int state; } GMutex;
typedef struct { int turn; } GCond;
extern void g_mutex_lock(GMutex *), g_mutex_unlock(GMutex *);
extern void g_cond_wait(GCond *, GMutex *), g_cond_signal(GCond *), g_cond_broadcast(GCond *);

static GMutex lock;
static GCond go, done;
static int job, pending;

static void *serve(void *arg)
{
    int id = number(arg);

    for (int next = 1; next <= ROUNDS; next++) {
        g_mutex_lock(&lock);
        while (job < next)
            g_cond_wait(&go, &lock);
        g_mutex_unlock(&lock);
        share(id, next);
        g_mutex_lock(&lock);
        if (--pending == 0)
            g_cond_signal(&done);
        g_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 0; round < ROUNDS; round++) {
        g_mutex_lock(&lock);
        pending = P;
        job++;
        g_cond_broadcast(&go);
        while (pending > 0)
            g_cond_wait(&done, &lock); /* SECTION */
        g_mutex_unlock(&lock);
    }
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
