/* Threads are created and joined in every round, as in PARSEC's blackscholes.
 * Each prices its own stretch of options; the American ones take far longer
 * and stand together at the end of the list.
 *
 * FIXED assigns the options cyclically. */
#include "example.h"

enum { ROUNDS = 3, EACH = 64, DEAR = 40 };

static int round_now;
static int american; /* options from here on are American */
static uint64_t cheap;

static uint64_t price(int option)
{
    uint64_t x = (uint64_t)round_now * 1000003 + option;
    x = work(x, cheap);
    if (option >= american) /* PLANTED */
        x = work(x, DEAR * cheap);
    return x;
}

static void *run(void *arg)
{
    struct worker *me = arg;

    for (int k = 0; k < EACH; k++) {
#ifdef FIXED
        me->result += price(k * P + me->id);
#else
        me->result += price(me->id * EACH + k);
#endif
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int options = P * EACH;
    american = options - options / 4; /* EACH is a multiple of 4, so P divides a quarter of the options */
    cheap = budget / ROUNDS / (options + options / 4 * DEAR);
    for (round_now = 0; round_now < ROUNDS; round_now++) {
        for (int t = 0; t < P; t++)
            start(t, run);
        for (int t = 0; t < P; t++)
            pthread_join(handles[t], NULL); /* SECTION */
    }
    return answer();
}
