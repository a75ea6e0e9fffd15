/* A sum over a triangle, which OpenMP makes of the threads' own: whoever has the last
 * rows has the longest. FIXED has a short one with each long one.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=loop */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16 };

#ifdef FIXED
#define ROW(i) ((i) % 2 ? rows - 1 - (i) / 2 : (i) / 2)
#else
#define ROW(i) (i)
#endif

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int rows = EACH * P;
    uint64_t each = budget / ROUNDS / (rows * (rows + 1) / 2), sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel for num_threads(P) reduction(+ : sum) /* SECTION */
        for (int i = 0; i < rows; i++)
            for (int j = 0; j <= ROW(i); j++) /* PLANTED */
                sum += work((round * rows + ROW(i)) * rows + j, each);
    }
    results[0].sum = sum;
    return answer();
}
