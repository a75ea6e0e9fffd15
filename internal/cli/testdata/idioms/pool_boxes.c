/* Each thread polls a box of its own, and yields and goes on polling while it is empty.
 * The first thread fills them all and polls until all are done: gcc lets it look first
 * where there is nobody whose box it could have filled.
 *
 * EXPECT percent=10 instances=20 rows=P cause=branch */
#include "idiom.h"
#include <sched.h>
#include <stdatomic.h>

enum { ROUNDS = 20, EACH = 8, DEAR = 8 };

static uint64_t each; /* steps for an item */

static void prepare(int argc, char **argv)
{
    arguments(argc, argv);
    each = budget / ROUNDS / (P * EACH * 3);
}

static void share(int id, int round)
{
    for (int k = 0; k < EACH; k++) {
        int i = dealt(id, k, EACH);
        uint64_t x = work(round * 1000 + i, each);
        if (i >= P * EACH * 3 / 4) /* PLANTED */
            x = refine(x, DEAR * each);
        results[id].sum += x;
    }
}

static struct {
    atomic_int job;
    char alone[60]; /* in a cache line */
} box[MAX_THREADS];
static atomic_int pending;

static void *serve(void *arg)
{
    int id = number(arg);

    for (;;) {
        int job = box[id].job;
        if (job == 0) {
            sched_yield();
            continue;
        }
        if (job < 0)
            return NULL;
        box[id].job = 0;
        share(id, job);
        pending--;
    }
}

int main(int argc, char **argv)
{
    prepare(argc, argv);
    for (int t = 0; t < P; t++)
        start(t, serve);
    for (int round = 1; round <= ROUNDS; round++) {
        pending = P;
        for (int t = 0; t < P; t++)
            box[t].job = round;
        while (pending > 0)
            sched_yield(); /* SECTION */
    }
    for (int t = 0; t < P; t++)
        box[t].job = -1;
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL);
    return answer();
}
