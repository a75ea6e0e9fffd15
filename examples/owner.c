/* Blocks of a matrix are assigned to threads by (i + j) % P, as in SPLASH's LU.
 * It looks even, but in a matrix of few blocks the middle diagonals are the
 * long ones, and the threads that own them get most of the work.
 *
 * FIXED assigns blocks by number. (The LIME paper, section 5.5.1, evens its
 * own case with J % Ncols + I % Nrows * Ncols; in a grid as small as this one
 * only assigning by number is exact for every number of threads.) */
#include "example.h"

enum { ROUNDS = 4 };

static pthread_barrier_t meet;
static int blocks; /* in a row and in a column */
static int sweeps; /* over the matrix in a round */

/* owner says which thread works on block (i, j). */
static inline int owner(int sweep, int i, int j)
{
#ifdef FIXED
    return ((sweep * blocks + i) * blocks + j) % P;
#else
    (void)sweep;
    return (i + j) % P;
#endif
}

static void *factor(void *arg)
{
    struct worker *me = arg;
    uint64_t each = budget / ((uint64_t)ROUNDS * sweeps * blocks * blocks);

    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < sweeps; s++)
            for (int i = 0; i < blocks; i++)
                for (int j = 0; j < blocks; j++)
                    if (owner(s, i, j) == me->id) /* PLANTED */
                        me->result += work(((round * 64 + s) * 64 + i) * 64 + j, each);
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    blocks = P == 2 ? 3 : P / 2 + 1; /* no multiple of P: never even by accident */
    sweeps = P;
    pthread_barrier_init(&meet, NULL, P);
    together(factor);
    return answer();
}
