/* A barrier made by hand of GLib's locks and conditions.
 *
 * EXPECT lib=glib_cond.lib.c
 * EXPECT instances=10 rows=P kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

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
extern void g_cond_wait(GCond *, GMutex *), g_cond_broadcast(GCond *);

static GMutex lock;
static GCond all;
static int here, turn;

static void meet(void)
{
    g_mutex_lock(&lock);
    int mine = turn;
    if (++here == P) {
        here = 0;
        turn++;
        g_cond_broadcast(&all);
    }
    while (mine == turn)
        g_cond_wait(&all, &lock);
    g_mutex_unlock(&lock);
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        meet(); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    team(run);
    return answer();
}
