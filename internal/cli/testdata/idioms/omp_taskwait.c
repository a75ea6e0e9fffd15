/* Tasks of OpenMP that make others and wait for these: threads that wait execute what is
 * there, and spin where there is nothing. One of the leaves is huge; FIXED cuts it.
 *
 * EXPECT openmp=yes cores=P least=4 most=8 percent=10 scheduled=self rows=P kind=omp cause=branch gain=any */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 3, DEPTH = 6, LEAVES = 1 << DEPTH };

static uint64_t each;

static uint64_t leaf(int i)
{
    uint64_t x = work(i, each);
#ifdef FIXED
    x += refine(i, 2 * each);
#else
    if (i == LEAVES / 2) /* PLANTED */
        for (int other = 0; other < LEAVES; other++)
            x += refine(other, 2 * each);
#endif
    return x;
}

static uint64_t tree(int depth, int first)
{
    uint64_t a, b;
    if (depth == 0)
        return leaf(first);
    #pragma omp task shared(a)
    a = tree(depth - 1, first);
    #pragma omp task shared(b)
    b = tree(depth - 1, first + (1 << (depth - 1)));
    #pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (3 * LEAVES);
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel num_threads(P) /* SECTION */
        #pragma omp single nowait
        results[0].sum += tree(DEPTH, 0);
    }
    return answer();
}
