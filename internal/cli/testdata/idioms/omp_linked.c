/* OpenMP's runtime is linked to the program: nothing is imported of it. One thread does
 * more, which all wait for where the region ends, by a barrier that it leaves by. FIXED
 * has all do as much.
 *
 * EXPECT openmp=yes link=:libgomp.a instances=10 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 8 };

static uint64_t item[MAX_THREADS * EACH];
static uint64_t rounds;

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    uint64_t each = budget / ROUNDS / (3 * items);
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel num_threads(P)
        {
            #pragma omp for schedule(static) /* BALANCED */
            for (int i = 0; i < items; i++)
                item[i] += work(round * items + i, each);
#ifdef FIXED
            #pragma omp for schedule(static) nowait
            for (int i = 0; i < items; i++)
                item[i] += refine(round * items + i, 2 * each);
#else
            #pragma omp master /* PLANTED */
            for (int i = 0; i < items; i++)
                item[i] += refine(round * items + i, 2 * each);
#endif
            #pragma omp critical
            rounds++;
            #pragma omp barrier /* SECTION */
        }
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i] + rounds;
    return answer();
}
