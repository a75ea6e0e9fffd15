/* Two kinds of threads: some decode, some draw, and drawing takes three times
 * as long. No branch decides it: the threads began in different functions.
 *
 * FIXED has one kind that does both. */
#include "example.h"

static int pieces;         /* of each kind, a multiple of the threads of each kind and of all */
static uint64_t a_decode;  /* steps for one piece */
static int drawers;

#ifdef FIXED
static void *both(void *arg)
{
    struct worker *me = arg;
    for (int n = me->id; n < pieces; n += P)
        me->result += work(n, a_decode);
    for (int n = me->id; n < 3 * pieces; n += P)
        me->result += work(1000000 + n, a_decode);
    return NULL;
}
#else
static void *decode(void *arg)
{
    struct worker *me = arg;
    for (int n = me->id; n < pieces; n += P - drawers)
        me->result += work(n, a_decode);
    return NULL;
}

static void *draw(void *arg) { /* PLANTED */
    struct worker *me = arg;
    for (int n = me->id - (P - drawers); n < 3 * pieces; n += drawers)
        me->result += work(1000000 + n, a_decode);
    return NULL;
}
#endif

int main(int argc, char **argv)
{
    arguments(argc, argv);
    drawers = P > 1 ? P / 2 : 1;
    pieces = P > 1 ? P * drawers * (P - drawers) : 1;
    a_decode = budget / (4 * pieces);
    for (int t = 0; t < P; t++)
#ifdef FIXED
        start(t, both);
#else
        start(t, t < P - drawers ? decode : draw);
#endif
    for (int t = 0; t < P; t++)
        pthread_join(handles[t], NULL); /* SECTION */
    return answer();
}
