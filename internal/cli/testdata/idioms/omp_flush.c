/* Threads of an OpenMP region that wait for their turn by a flag, in a loop that flushes and
 * reads it: that is no work. The last one has the dear items; FIXED deals them in turns.
 *
 * EXPECT openmp=yes least=4 instances=10 rows=P kind=omp cause=branch */
#include "idiom.h"
#include <omp.h>

enum { ROUNDS = 10, EACH = 16, DEAR = 8 };

static int turn;

int main(int argc, char **argv)
{
    arguments(argc, argv);
    uint64_t each = budget / ROUNDS / (P * EACH + EACH * DEAR);
    for (int round = 0; round < ROUNDS; round++) {
        turn = 0;
        #pragma omp parallel num_threads(P) /* SECTION */
        {
            int me = omp_get_thread_num(), now;
            for (int k = 0; k < EACH; k++) {
                int i = dealt(me, k, EACH);
                results[me].sum += work(round * 1000 + i, each);
                if (i >= (P - 1) * EACH) /* PLANTED */
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
