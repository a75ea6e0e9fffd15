/* A recursion that some items go a little deeper into than others. Compilers put
 * its first levels into the caller, as loops, and level into level.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=recursion|loop|branch gain=any */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 8 };

static int depth;

static pthread_barrier_t meet;

static uint64_t fibonacci(int n)
{
    return n < 2 ? (uint64_t)n : fibonacci(n - 1) + fibonacci(n - 2); /* PLANTED */
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        results[id].sum += fibonacci(depth + (i >= P * EACH * 3 / 4 ? 4 : 0)) * (uint64_t)(round + i); /* PLANTED */
    }
}

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t calls = 1, last = 1;

    arguments(argc, argv);
    while (calls < budget / ROUNDS / (uint64_t)(P * EACH * 50)) {
        uint64_t next = calls + last;
        last = calls;
        calls = next;
        depth++;
    }
    pthread_barrier_init(&meet, NULL, P);
    team(run);
    return answer();
}
