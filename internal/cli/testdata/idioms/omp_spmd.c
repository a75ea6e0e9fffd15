/* A region of OpenMP whose threads know their numbers, and meet at a barrier of their own.
 * One of them has the dear items; FIXED deals them in turns.
 *
 * EXPECT openmp=yes instances=6 most=4 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 6, EACH = 8, DEAR = 8 };

static uint64_t item[MAX_THREADS * EACH], each;
static int here, sense;

static void meet(int *mine)
{
    int s = *mine = !*mine;
    if (__atomic_fetch_add(&here, 1, __ATOMIC_SEQ_CST) == P - 1) {
        __atomic_store_n(&here, 0, __ATOMIC_SEQ_CST);
        __atomic_store_n(&sense, s, __ATOMIC_SEQ_CST);
    } else {
        while (__atomic_load_n(&sense, __ATOMIC_SEQ_CST) != s)
            ;
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH + EACH * DEAR);
    #pragma omp parallel num_threads(P)
    {
        int mine = 0;
        for (int round = 0; round < ROUNDS; round++) {
            for (int k = 0; k < EACH; k++) {
                int i = dealt(omp_get_thread_num(), k, EACH);
                item[i] += work(round * 1000 + i, each);
                if (i < EACH) /* PLANTED */
                    item[i] += refine(i, each * DEAR);
            }
            meet(&mine); /* SECTION */
        }
    }
    for (int i = 0; i < P * EACH; i++)
        results[0].sum += item[i];
    return answer();
}
