/* A counter under a mutex that threads take by trying again and again, and a wait
 * that looks at it in the same way.
 *
 * EXPECT instances=3 most=4 rows=P kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 3, EACH = 8, DEAR = 8 };

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
static int here;
static unsigned long turn;

static void acquire(void)
{
    while (pthread_mutex_trylock(&lock) != 0)
        ;
}

static void meet(void)
{
    acquire();
    unsigned long mine = turn;
    if (++here == P) {
        here = 0;
        turn++;
    }
    while (turn == mine) {
        pthread_mutex_unlock(&lock);
        acquire();
    }
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

int main(int argc, char **argv)
{
    prepare(argc, argv);
    team(run);
    return answer();
}
