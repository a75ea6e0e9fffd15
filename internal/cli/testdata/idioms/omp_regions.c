/* Several regions of OpenMP in each time step: one of them is balanced, and the
 * threads are the same in all.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=loop */
#include "idiom.h"
#include <omp.h>

enum { STEPS = 10, EACH = 8 };

static uint64_t each;
static uint64_t item[MAX_THREADS * EACH];

static void relax(int step, int items)
{
    #pragma omp parallel for num_threads(P) /* BALANCED */
    for (int i = 0; i < items; i++)
        item[i] += refine(step * items + i, each * 4);
}

static void advance(int step, int items)
{
    #pragma omp parallel num_threads(P) /* SECTION */
    {
        int id = omp_get_thread_num();
#ifdef FIXED
        int first = id * P, more = P;
#else
        int first = id * id, more = 2 * id + 1;
#endif
        for (int k = 0; k < more; k++) /* PLANTED */
            results[id].sum += work(step * 10000 + first + k, each * 16 * EACH / P);
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    each = budget / STEPS / (20 * items);
    for (int step = 0; step < STEPS; step++) {
        relax(step, items);
        advance(step, items);
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i];
    return answer();
}
