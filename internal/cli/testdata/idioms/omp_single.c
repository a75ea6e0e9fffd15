/* One thread does for all what is in a single of OpenMP, and the others wait for it.
 * FIXED has each do its share.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, PIECES = 5040 };

static uint64_t item[2][PIECES];

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / (2 * PIECES);
    #pragma omp parallel num_threads(P)
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp for nowait
        for (int i = 0; i < PIECES; i++)
            item[0][i] += work(round * PIECES + i, each);
#ifdef FIXED
        #pragma omp for /* SECTION */
        for (int i = 0; i < PIECES; i++)
            item[1][i] += refine(round * PIECES + i, each);
#else
        #pragma omp single /* SECTION */ /* PLANTED */
        for (int i = 0; i < PIECES; i++)
            item[1][i] += refine(round * PIECES + i, each);
#endif
    }
    for (int i = 0; i < PIECES; i++)
        results[0].sum += item[0][i] + item[1][i];
    return answer();
}
