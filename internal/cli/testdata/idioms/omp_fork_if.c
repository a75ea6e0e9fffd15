/* What flang makes of a region with an if (__kmpc_fork_call_if), which not every libomp has:
 * a library that does what LLVM's does stands in for it. One thread has the dear items;
 * FIXED deals them in turns. Every other time the region is of one thread.
 *
 * EXPECT lib=omp_fork_if.lib.c count=none instances=20 rows=P kind=omp cause=branch */
#include "idiom.h"

enum { ROUNDS = 20, EACH = 16, DEAR = 8 };

#ifdef __cplusplus
extern "C"
#endif
void __kmpc_fork_call_if(void *place, int n, void (*fn)(int *, int *, void *), int whether, void *arg);

static uint64_t item[MAX_THREADS * EACH], each;

static void outlined(int *thread, int *bound, void *arg)
{
    int round = *(int *)arg, alone = *bound != 0;
    for (int k = 0; k < (alone ? 1 : EACH); k++) {
        int i = dealt(*thread, k, EACH);
        item[i] += work(round * 1000 + i, each);
        if (!alone && i < EACH) /* PLANTED */
            item[i] += refine(round * 1000 + i, each * DEAR);
    }
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH + EACH * DEAR);
    int place = P;
    for (int round = 0; round < ROUNDS; round++) {
        __kmpc_fork_call_if(&place, 1, outlined, 1, &round); /* SECTION */
        __kmpc_fork_call_if(&place, 1, outlined, 0, &round);
    }
    for (int i = 0; i < P * EACH; i++)
        results[0].sum += item[i];
    return answer();
}
