/* A barrier of condition variables where a coordinator, here the first thread,
 * lets the others go on, in a program of which only the table for debuggers tells
 * how its functions were called.
 *
 * EXPECT instances=20 rows=P kind=barrier cause=branch flags=-fno-asynchronous-unwind-tables */
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
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER, go_on = PTHREAD_COND_INITIALIZER;
static int here;
static unsigned long turn;

__attribute__((noinline)) static void meet(void)
{
    pthread_mutex_lock(&lock);
    unsigned long mine = turn;
    if (++here == P)
        pthread_cond_signal(&all_here);
    while (turn == mine)
        pthread_cond_wait(&go_on, &lock);
    pthread_mutex_unlock(&lock);
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

static void coordinate(void)
{
    pthread_mutex_lock(&lock);
    for (int round = 0; round < ROUNDS; round++) {
        while (here < P)
            pthread_cond_wait(&all_here, &lock);
        here = 0;
        turn++;
        pthread_cond_broadcast(&go_on);
    }
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int t = 0; t < P; t++)
        start(t, run);
    coordinate();
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
