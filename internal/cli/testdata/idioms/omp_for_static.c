/* A loop of OpenMP that is dealt in blocks: the first block's rounds cost more. FIXED
 * deals them in turns.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16, HEAVY = 8 };

static uint64_t each;
static uint64_t item[MAX_THREADS * EACH];
static char heavy[MAX_THREADS * EACH];

#ifdef FIXED
#define DEALT schedule(static, 1)
#else
#define DEALT schedule(static)
#endif

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    each = budget / ROUNDS / (items + EACH * HEAVY);
    for (int i = 0; i < EACH; i++)
        heavy[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel for num_threads(P) DEALT /* SECTION */
        for (int i = 0; i < items; i++) {
            item[i] += work(round * items + i, each);
            if (heavy[i]) /* PLANTED */
                item[i] += refine(round * items + i, each * HEAVY);
        }
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i];
    return answer();
}
