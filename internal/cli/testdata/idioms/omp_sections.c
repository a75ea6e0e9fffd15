/* Sections of OpenMP, of which one has most of the work. FIXED has them all do as much.
 *
 * EXPECT openmp=yes cores=P scheduled=self instances=10 rows=P kind=omp gain=any least=4 most=4 */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10 };

static uint64_t sums[4];

static uint64_t part(int k, int round, uint64_t each)
{
    uint64_t x = 0;
#ifdef FIXED
    for (int n = 0; n < 5; n++)
        x += work((round * 4 + k) * 5 + n, each);
#else
    for (int n = 0; n < (k == 2 ? 20 : 0); n++) /* PLANTED */
        x += work(round * 20 + n, each);
#endif
    return x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / 20;
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel sections num_threads(P) /* SECTION */ /* PLANTED */
        { /* PLANTED */
            #pragma omp section
            sums[0] += part(0, round, each);
            #pragma omp section
            sums[1] += part(1, round, each);
            #pragma omp section
            sums[2] += part(2, round, each);
            #pragma omp section
            sums[3] += part(3, round, each);
        }
    }
    for (int i = 0; i < 4; i++)
        results[0].sum += sums[i];
    return answer();
}
