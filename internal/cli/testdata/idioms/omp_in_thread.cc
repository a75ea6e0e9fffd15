/* A thread that computes by regions of OpenMP, and its creator waits for it. One thread of
 * the team has the dear items; FIXED deals them in turns.
 *
 * EXPECT openmp=yes instances=10 rows=P kind=omp cause=branch */
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

static void simulate()
{
    int items = EACH * P;
    uint64_t each = budget / ROUNDS / (items + EACH * DEAR);
    for (int i = 0; i < EACH; i++)
        dear[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel for num_threads(P) DEALT /* SECTION */
        for (int i = 0; i < items; i++) {
            item[i] += work(round * items + i, each);
            if (dear[i]) /* PLANTED */
                item[i] += refine(round * items + i, each * DEAR);
        }
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    std::thread(simulate).join();
    for (int i = 0; i < EACH * P; i++)
        results[0].sum += item[i];
    return answer();
}
