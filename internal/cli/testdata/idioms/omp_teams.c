/* OpenMP's teams on the host, one of them, whose threads share a loop. One of them has the
 * dear items; FIXED deals them in turns.
 *
 * EXPECT openmp=yes teams=yes instances=10 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16, DEAR = 8 };

static uint64_t item[MAX_THREADS * EACH];
static char dear[MAX_THREADS * EACH];

#ifdef FIXED
#define DEALT schedule(static, 1)
#else
#define DEALT schedule(static)
#endif

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int items = EACH * P;
    uint64_t each = budget / ROUNDS / (items + EACH * DEAR);
    for (int i = 0; i < EACH; i++)
        dear[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp teams distribute parallel for num_teams(1) thread_limit(P) num_threads(P) DEALT /* SECTION */
        for (int i = 0; i < items; i++) {
            item[i] += work(round * items + i, each);
            if (dear[i]) /* PLANTED */
                item[i] += refine(round * items + i, each * DEAR);
        }
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[i];
    return answer();
}
