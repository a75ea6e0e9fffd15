/* A barrier of OpenMP within a region: one thread does more before it. FIXED has all do
 * as much.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10 };

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / (2 * P);
    #pragma omp parallel num_threads(P)
    {
        int id = omp_get_thread_num();
        for (int round = 0; round < ROUNDS; round++) {
            results[id].sum += work(round * P + id, each);
#ifdef FIXED
            results[id].sum += refine(round * P + id, each);
#else
            if (id == round % 2) /* PLANTED */
                for (int other = 0; other < P; other++)
                    results[id].sum += refine(round * P + other, each);
#endif
            #pragma omp barrier /* SECTION */
        }
    }
    return answer();
}
