/* A loop of OpenMP of which whoever is free takes its share of what is left. All
 * rounds cost the same.
 *
 * EXPECT openmp=yes cores=P scheduled=self silent=yes rows=P kind=omp */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 64 };

static uint64_t item[MAX_THREADS * EACH];

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    uint64_t each = budget / ROUNDS / items;
    #pragma omp parallel num_threads(P)
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp for schedule(guided) /* SECTION */
        for (int i = 0; i < items; i++)
            item[i] += work(round * items + i, each);
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i];
    return answer();
}
