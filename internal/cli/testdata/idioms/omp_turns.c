/* Threads of an OpenMP region that go on in turns: the first never waits. As long as it has the
 * dear items it comes last, so that all leave when it has come, as from a barrier; that this is
 * none is seen in the second half only, where the last one has them. FIXED deals them in turns.
 *
 * EXPECT openmp=yes most=4 instances=20 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 20, EACH = 16, DEAR = 8 };

static int turn;

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / (P * EACH + EACH * DEAR);
    for (int round = 0; round < ROUNDS; round++) {
        int dear = round < ROUNDS / 2 ? 0 : P - 1;
        turn = 0;
        #pragma omp parallel num_threads(P) /* SECTION */
        {
            int me = omp_get_thread_num(), now;
            for (int k = 0; k < EACH; k++) {
                int i = dealt(me, k, EACH);
                results[me].sum += work(round * 1000 + i, each);
                if (i / EACH == dear) /* PLANTED */
                    results[me].sum += refine(round * 1000 + i, each * DEAR);
            }
            do {
                #pragma omp flush
                #pragma omp atomic read
                now = turn;
            } while (now != me);
            #pragma omp atomic write
            turn = me + 1;
        }
    }
    return answer();
}
