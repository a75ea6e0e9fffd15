/* A region of OpenMP whose threads take the next item in a critical section. One of the
 * items is huge; FIXED cuts it.
 *
 * EXPECT openmp=yes cores=P least=4 most=8 percent=10 scheduled=self instances=10 rows=P kind=omp cause=branch gain=any */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16 };

static uint64_t each, item[MAX_THREADS * EACH];

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    each = budget / ROUNDS / (3 * items);
    for (int round = 0; round < ROUNDS; round++) {
        int next = 0;
        #pragma omp parallel num_threads(P) /* SECTION */
        for (;;) {
            int i;
            #pragma omp critical
            i = next++;
            if (i >= items)
                break;
            item[i] += work(i, each);
#ifdef FIXED
            item[i] += refine(i, 2 * each);
#else
            if (i == items / 2) /* PLANTED */
                for (int k = 0; k < items; k++)
                    item[k] += refine(k, 2 * each);
#endif
        }
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i];
    return answer();
}
