/* A region of OpenMP that puts together what its threads and their tasks have found
 * (GOMP_parallel_reductions). One of them has the dear items; FIXED deals them in turns.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16, DEAR = 8 };

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t sum = 0, each = budget / ROUNDS / (P * EACH + EACH * DEAR);
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel num_threads(P) reduction(task, + : sum) /* SECTION */
        {
            int me = omp_get_thread_num();
            for (int k = 0; k < EACH; k++) {
                int i = dealt(me, k, EACH);
                sum += work(round * 1000 + i, each);
                if (i < EACH) /* PLANTED */
                    sum += refine(round * 1000 + i, each * DEAR);
            }
            #pragma omp task in_reduction(+ : sum)
            sum += me;
        }
    }
    results[0].sum = sum;
    return answer();
}
