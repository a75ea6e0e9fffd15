/* Two causes in one section, after figure 1 of the LIME paper (SPLASH's
 * radix): one thread alone prefixes the totals, and each thread adds one table
 * per bit that is set in its own number. The while loop differs between
 * threads too, but costs next to nothing.
 *
 * FIXED evens both, FIXED_FIRST only the first. */
#include "example.h"

#ifdef FIXED
#define FIXED_FIRST
#endif

enum { PASSES = 4, WEIGHT = 12 }; /* of the first cause against one table */

static pthread_barrier_t meet;
static uint64_t piece; /* steps for one of the P pieces of a table */

static uint64_t prefix(int pass, int first, int stride)
{
    uint64_t sum = 0;
    for (int part = first; part < WEIGHT * P; part += stride)
        sum += work(pass * 10000 + part, piece);
    return sum;
}

/* add works on parts first, first + stride … of the table of one bit of one thread. */
static uint64_t add(int pass, int thread, int bit, int first, int stride)
{
    uint64_t sum = 0;
    for (int part = first; part < P; part += stride)
        sum += work(((pass * 512 + thread) * 16 + bit) * 512 + part, piece);
    return sum;
}

static uint64_t histogram(int pass, int thread, int first, int stride)
{
    uint64_t sum = 0;
    int bit = 0;
    unsigned offset = thread;
    while (offset != 0) {
        if ((offset & 1) != 0) /* PLANTED 2 */
            sum += add(pass, thread, bit, first, stride);
        offset >>= 1;
        bit++;
    }
    return sum;
}

static void *sort(void *arg)
{
    struct worker *me = arg;

    for (int pass = 0; pass < PASSES; pass++) {
        for (int key = 0; key < 4 * P; key++) /* its own keys */
            me->result += work((pass * 777 + me->id) * 2048 + key, piece);
#ifdef FIXED_FIRST
        me->result += prefix(pass, me->id, P);
#else
        if (me->id == P - 1) /* PLANTED */
            me->result += prefix(pass, 0, 1);
#endif
#ifdef FIXED
        for (int thread = 0; thread < P; thread++)
            me->result += histogram(pass, thread, me->id, P);
#else
        me->result += histogram(pass, me->id, 0, 1);
#endif
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    int bits = 0;
    for (int t = 0; t < P; t++)
        for (int n = t; n != 0; n >>= 1)
            bits += n & 1;
    piece = budget / PASSES / P / (4 * P + WEIGHT + bits);
    pthread_barrier_init(&meet, NULL, P);
    together(sort);
    return answer();
}
