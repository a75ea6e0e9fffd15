/* Teams of OpenMP within a team: the threads of the inner ones have blocks of items, of
 * which the first cost more. FIXED deals them in turns.
 *
 * EXPECT openmp=yes instances=20 rows=P kind=omp cause=branch least=4 */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16, HEAVY = 8 };

static uint64_t item[2][MAX_THREADS * EACH];
static char heavy[MAX_THREADS * EACH];

#ifdef FIXED
#define DEALT schedule(static, 1)
#else
#define DEALT schedule(static)
#endif

int main(int argc, char **argv)
{
    arguments(argc, argv);
    omp_set_max_active_levels(2);
    int inner = P / 2, items = EACH * inner;
    uint64_t each = budget / ROUNDS / 2 / (items + EACH * HEAVY);
    for (int i = 0; i < EACH; i++)
        heavy[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        #pragma omp parallel num_threads(2)
        {
            int me = omp_get_thread_num();
            #pragma omp parallel for num_threads(inner) DEALT /* SECTION */
            for (int i = 0; i < items; i++) {
                item[me][i] += work((round * 2 + me) * items + i, each);
                if (heavy[i]) /* PLANTED */
                    item[me][i] += refine((round * 2 + me) * items + i, each * HEAVY);
            }
        }
    }
    for (int i = 0; i < items; i++)
        results[0].sum += item[0][i] + item[1][i];
    return answer();
}
