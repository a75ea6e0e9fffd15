/* Each thread scans its own stretch of items. An item that is large or marked
 * costs work; some stretches hold many of them. Half of the threads meet only
 * large ones and half only marked ones, so neither test alone explains the
 * time, only the two together.
 *
 * FIXED assigns the items cyclically. */
#include "example.h"

enum { ROUNDS = 2, LARGE = 1000 };

struct item {
    int size, mark;
};

static pthread_barrier_t meet;
static struct item *items;
static int stretch; /* items of one thread */
static uint64_t each;

/* inspect looks at one item. */
__attribute__((noinline)) static uint64_t inspect(const struct item *it, uint64_t x)
{
    if (it->size > LARGE || it->mark == 7) /* PLANTED */
        return work(x, each);
    return x;
}

static void *scan(void *arg)
{
    struct worker *me = arg;

    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < stretch; k++) {
#ifdef FIXED
            int n = k * P + me->id;
#else
            int n = me->id * stretch + k;
#endif
            me->result += inspect(&items[n], (uint64_t)round * 1000003 + n);
        }
        pthread_barrier_wait(&meet); /* SECTION */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    stretch = 2 * P * P;
    items = calloc((size_t)P * stretch, sizeof *items);
    if (items == NULL) {
        perror("items");
        return 1;
    }
    uint64_t costly = 0;
    for (int n = 0; n < P * stretch; n++) {
        int thread = n / stretch, column = n % stretch / P; /* of 2·P columns of P items */
        int hot = column < 2 * (thread + 1);
        costly += hot;
        items[n].size = hot && thread / 2 % 2 == 0 ? LARGE + 1 + n % 5 : n % LARGE;
        items[n].mark = hot && thread / 2 % 2 == 1 ? 7 : n % 7;
    }
    each = budget / ROUNDS / costly;
    pthread_barrier_init(&meet, NULL, P);
    together(scan);
    return answer();
}
