/* A triangular loop, dealt statically.
 *
 * EXPECT openmp=yes instances=4 rows=P kind=omp cause=loop */
#include "idiom.h"
#include <omp.h>
enum { STEPS = 4, N = 96 };
static uint64_t each;
static uint64_t item[N];

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / STEPS / (N * N / 2);
    for (int step = 0; step < STEPS; step++) {
        #pragma omp parallel num_threads(P) /* SECTION */
        {
#ifdef FIXED
            #pragma omp for schedule(static, 1)
            for (int r = 0; r < N / 2; r++)
                for (int i = r; i < N; i = i == r ? N - 1 - r : N)
                    for (int j = 0; j <= i; j++)
                        item[i] += work(step * 10000 + i * N + j, each);
#else
            #pragma omp for schedule(static) nowait
            for (int i = 0; i < N; i++)
                for (int j = 0; j <= i; j++) /* PLANTED */
                    item[i] += work(step * 10000 + i * N + j, each);
#endif
        }
    }
    for (int i = 0; i < N; i++)
        results[0].sum += item[i];
    return answer();
}
