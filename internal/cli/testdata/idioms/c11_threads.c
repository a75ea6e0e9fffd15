/* The threads of C11: a barrier of mtx and cnd.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <threads.h>

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

static mtx_t lock;
static cnd_t all_here;
static int here;
static unsigned long turn;

static void meet(void)
{
    mtx_lock(&lock);
    unsigned long mine = turn;
    if (++here == P) {
        here = 0;
        turn++;
        cnd_broadcast(&all_here);
    } else {
        while (turn == mine)
            cnd_wait(&all_here, &lock);
    }
    mtx_unlock(&lock);
}

static int run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        meet(); /* SECTION */
    }
    return 0;
}

int main(int argc, char **argv)
{
    thrd_t threads[MAX_THREADS];

    prepare(argc, argv);
    mtx_init(&lock, mtx_plain);
    cnd_init(&all_here);
    for (int t = 0; t < P; t++)
        thrd_create(&threads[t], run, (void *)(intptr_t)t);
    for (int t = 0; t < P; t++)
        thrd_join(threads[t], NULL);
    return answer();
}
