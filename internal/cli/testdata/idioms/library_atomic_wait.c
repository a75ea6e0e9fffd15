/* A barrier whose waits and wakes are calls of the C++ library's, as std::barrier's are
 * from gcc 16 on: here they are a library's that has them by these names.
 *
 * EXPECT lib=library_atomic_wait.lib.c count=none instances=20 rows=P kind=barrier cause=branch */
#include "idiom.h"
#include <stdbool.h>

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

void _ZNSt8__detail11__wait_implEPKvRNS_16__wait_args_baseE(const int *at, const int *old);
void _ZNSt8__detail13__notify_implEPKvbRKNS_16__wait_args_baseE(const int *at, bool all, const int *old);

static uint64_t each; /* steps for an item */
static int phase, come;

static inline void arrive_and_wait(void)
{
    int old = __atomic_load_n(&phase, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&come, 1, __ATOMIC_ACQ_REL) == P) {
        __atomic_store_n(&come, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&phase, old + 1, __ATOMIC_RELEASE);
        _ZNSt8__detail13__notify_implEPKvbRKNS_16__wait_args_baseE(&phase, true, &old);
    }
    while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) == old)
        _ZNSt8__detail11__wait_implEPKvRNS_16__wait_args_baseE(&phase, &old);
}

static void *body(void *arg)
{
    int id = number(arg);
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < EACH; k++) {
            int i = dealt(id, k, EACH);
            results[id].sum += work(round * 1000 + i, each);
            if (i >= P * EACH * 3 / 4) /* PLANTED */
                results[id].sum += refine(round * 1000 + i, each * DEAR);
        }
        arrive_and_wait(); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
    team(body);
    return answer();
}
