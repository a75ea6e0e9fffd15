/* Two groups of threads, each with a barrier of its own at the same line. Inside
 * each of them the work is dealt badly.
 *
 * EXPECT least=4 instances=20 kind=barrier cause=branch */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 8, DEAR = 8 };

static uint64_t each;
static pthread_barrier_t meet[2];

static void share(int group, int id, int round)
{
    int n = P / 2;
    for (int k = 0; k < EACH; k++) {
        int i = dealt_among(n, id, k, EACH);
        uint64_t x = work((round * 2 + group) * 1000 + i, each);
        if (i >= n * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[group * n + id].sum += x;
    }
}

static void *run(void *arg)
{
    int group = number(arg) / (P / 2), id = number(arg) % (P / 2);

    for (int round = 0; round < ROUNDS; round++) {
        share(group, id, round);
        pthread_barrier_wait(&meet[group]); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    P -= P % 2;
    each = budget / ROUNDS / (P * EACH * 3);
    pthread_barrier_init(&meet[0], NULL, P / 2);
    pthread_barrier_init(&meet[1], NULL, P / 2);
    team(run);
    return answer();
}
