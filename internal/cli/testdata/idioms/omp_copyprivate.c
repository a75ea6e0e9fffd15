/* Threads of a region of OpenMP get what one of them has found: they meet there. One of
 * them has the dear items before; FIXED deals them in turns.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16, DEAR = 8 };

static uint64_t item[MAX_THREADS * EACH];

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / (P * EACH + EACH * DEAR);
    #pragma omp parallel num_threads(P)
    {
        int me = omp_get_thread_num();
        for (int round = 0; round < ROUNDS; round++) {
            int found;
            for (int k = 0; k < EACH; k++) {
                int i = dealt(me, k, EACH);
                item[i] += work(round * 1000 + i, each);
                if (i < EACH) /* PLANTED */
                    item[i] += refine(round * 1000 + i, each * DEAR);
            }
            #pragma omp single copyprivate(found) /* SECTION */
            found = round * 3;
            results[me].sum += found;
        }
    }
    for (int i = 0; i < P * EACH; i++)
        results[0].sum += item[i];
    return answer();
}
