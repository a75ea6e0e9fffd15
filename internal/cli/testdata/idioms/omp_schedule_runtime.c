/* schedule(runtime), set by the program.
 *
 * EXPECT openmp=yes instances=4 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>
enum { STEPS = 4, N = 128 };
static uint64_t each;
static uint64_t item[N];

static uint64_t cell(int step, int i)
{
    uint64_t x = work(step * 1000 + i, each);
    if (i >= N * 3 / 4) /* PLANTED */
        x = refine(x, each * 8);
    return x;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / STEPS / (N * 3);
#ifdef FIXED
    omp_set_schedule(omp_sched_static, 1);
#else
    omp_set_schedule(omp_sched_static, N / P);
#endif
    omp_set_num_threads(P);
    for (int step = 0; step < STEPS; step++) {
        #pragma omp parallel for schedule(runtime) /* SECTION */
        for (int i = 0; i < N; i++)
            item[i] += cell(step, i);
    }
    for (int i = 0; i < N; i++)
        results[0].sum += item[i];
    return answer();
}
