/* A single of OpenMP at whose end nobody waits, between two loops: who comes first has all of
 * its work, and what is uneven shows at the end of the loop behind it. FIXED shares it.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=branch gain=any */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16 };

static uint64_t item[MAX_THREADS * EACH], other[MAX_THREADS * EACH];

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    uint64_t each = budget / ROUNDS / (items * 2);
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel num_threads(P)
        {
            #pragma omp for schedule(static) nowait
            for (int i = 0; i < items; i++)
                item[i] += work(round * items + i, each);
#ifndef FIXED
            #pragma omp single nowait /* PLANTED */
            for (int i = 0; i < items; i++)
                other[i] += refine(round * items + i, each);
#endif
            #pragma omp for schedule(static) /* SECTION */
            for (int i = 0; i < items; i++) {
                item[i] += work(round * items + i, each);
#ifdef FIXED
                other[i] += refine(round * items + i, each);
#endif
            }
            #pragma omp for schedule(static)
            for (int i = 0; i < items; i++)
                item[i] += work(round * items + i, each);
        }
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i] + other[i];
    return answer();
}
