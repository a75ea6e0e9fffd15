/* Sections of OpenMP in a function that a region calls, of which one has most of the work.
 * FIXED has them all do as much.
 *
 * EXPECT openmp=yes cores=P scheduled=self percent=10 instances=10 rows=P kind=omp cause=branch gain=any least=4 most=4 */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10 };

static uint64_t sums[4];

static void phases(int round, uint64_t each)
{
    #pragma omp sections /* SECTION */ /* PLANTED */
    { /* PLANTED */
        #pragma omp section
        sums[0] += work(round, each);
        #pragma omp section
#ifdef FIXED
        sums[1] += work(round + 1, each);
#else
        for (int k = 1; k < 20; k++)
            sums[1] += work(round + k, each);
#endif
        #pragma omp section
        sums[2] += work(round + 2, each);
        #pragma omp section
        sums[3] += work(round + 3, each);
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / 20;
    #pragma omp parallel num_threads(P)
    for (int round = 0; round < ROUNDS; round++) {
        phases(round, each);
        results[omp_get_thread_num()].sum ^= work(round, each / 8);
    }
#ifdef FIXED
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 2; k < 20; k++)
            sums[1] += work(round + k, each);
#endif
    for (int i = 0; i < 4; i++)
        results[0].sum += sums[i];
    return answer();
}
