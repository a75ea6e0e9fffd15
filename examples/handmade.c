/* A barrier made by hand of a mutex and a condition variable, behind a macro,
 * as older programs have it. The rows of a triangle are assigned in bands: the
 * lower bands have the longer rows, so one loop repeats more often in some
 * threads than in others.
 *
 * FIXED gives each thread a short row for every long one. */
#include "example.h"

enum { ROUNDS = 3, FOLDS = 2 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int arrived;
    unsigned long turn;
} bar = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

#define BARRIER(b, n)                                    \
    {                                                    \
        pthread_mutex_lock(&(b).lock);                   \
        unsigned long turn = (b).turn;                   \
        if (++(b).arrived == (n)) {                      \
            (b).arrived = 0;                             \
            (b).turn++;                                  \
            pthread_cond_broadcast(&(b).all_here);       \
        } else {                                         \
            while (turn == (b).turn)                     \
                pthread_cond_wait(&(b).all_here, &(b).lock); \
        }                                                \
        pthread_mutex_unlock(&(b).lock);                 \
    }

static uint64_t each;

static uint64_t row(int round, int r)
{
    uint64_t x = round * 1000 + r;
    for (int c = 0; c <= r; c++) /* PLANTED */
        x = work(x + c, each);
    return x;
}

static void *run(void *arg)
{
    struct worker *me = arg;

    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < 2 * FOLDS; k++) {
#ifdef FIXED
            /* Forwards through the threads, then backwards: 0 1 2 … 2 1 0. */
            int r = k * P + (k % 2 == 0 ? me->id : P - 1 - me->id);
#else
            int r = me->id * 2 * FOLDS + k;
#endif
            me->result += row(round, r);
        }
        BARRIER(bar, P) /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t rows = 2 * FOLDS * P;
    each = budget / ROUNDS / (rows * (rows + 1) / 2);
    together(run);
    return answer();
}
