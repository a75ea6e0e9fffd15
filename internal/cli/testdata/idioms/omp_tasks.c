/* Tasks of OpenMP, which one thread makes and whoever is free executes. One of them is
 * huge; FIXED cuts it.
 *
 * EXPECT openmp=yes cores=P least=4 most=8 percent=10 scheduled=self instances=10 rows=P kind=omp cause=branch gain=any */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16 };

static uint64_t each;
static uint64_t item[MAX_THREADS * EACH];

static uint64_t run_task(int i, int items)
{
    uint64_t x = work(i, each);
#ifdef FIXED
    x += work(i, 2 * each);
#else
    if (i % items == items / 2) /* PLANTED */
        for (int other = i - items / 2; other < i + items / 2; other++)
            x += work(other, 2 * each);
#endif
    return x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    each = budget / ROUNDS / (3 * items);
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel num_threads(P) /* SECTION */
        #pragma omp single nowait
        for (int i = 0; i < items; i++) {
            #pragma omp task
            item[i] += run_task(round * items + i, items);
        }
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i];
    return answer();
}
