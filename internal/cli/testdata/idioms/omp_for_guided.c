/* A loop of OpenMP of which whoever is free takes its share of what is left. One of its
 * rounds is huge; FIXED cuts it.
 *
 * EXPECT openmp=yes cores=P scheduled=self instances=10 rows=P kind=omp cause=branch gain=any least=4 */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16 };

static uint64_t each;
static uint64_t item[MAX_THREADS * EACH];

static uint64_t run_item(int i, int items)
{
    uint64_t x = work(i, each);
#ifdef FIXED
    x += refine(i, 2 * each);
#else
    if (i % items == items / 2) /* PLANTED */
        for (int other = i - items / 2; other < i + items / 2; other++)
            x += refine(other, 2 * each);
#endif
    return x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    each = budget / ROUNDS / (3 * items);
    #pragma omp parallel num_threads(P)
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp for schedule(guided) /* SECTION */
        for (int i = 0; i < items; i++)
            item[i] += run_item(round * items + i, items);
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i];
    return answer();
}
