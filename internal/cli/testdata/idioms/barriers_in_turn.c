/* Two barriers used in turn by one line.
 *
 * EXPECT instances=10 rows=P kind=barrier cause=loop */
#include "idiom.h"

enum { ROUNDS = 10, EACH = 4 };

static uint64_t each; /* steps for an element of the triangle */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS * 2 / (P * EACH * (P * EACH + 1));
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int row = dealt(id, k, EACH);
        uint64_t x = round;
        for (int c = 0; c <= row; c++) /* PLANTED */
            x = work(x + c, each);
        results[id].sum += x;
    }
}

static pthread_barrier_t meet[2];

static void *run(void *arg)
{
    int id = number(arg);

    for (int round = 0; round < ROUNDS; round++) {
        share(id, round);
        pthread_barrier_wait(&meet[round % 2]); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    pthread_barrier_init(&meet[0], NULL, P);
    pthread_barrier_init(&meet[1], NULL, P);
    team(run);
    return answer();
}
